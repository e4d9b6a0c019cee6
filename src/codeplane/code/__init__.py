"""What source code says and what its names mean."""
