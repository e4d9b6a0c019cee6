"""What is asked about the repository: search, reading, overviews, symbols, comparisons."""
