"""What the answers of others are worth, and what may have gone wrong."""
