"""Taking mutations back, and doing them again."""
