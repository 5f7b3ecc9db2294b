"""The interior-point engine, one file for each family and the parts that they share."""
