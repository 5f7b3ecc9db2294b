"""The mathematics that the formulations of a family share."""
