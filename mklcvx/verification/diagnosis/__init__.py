"""What may have gone wrong: the mistakes that are tried, one file for each kind."""
