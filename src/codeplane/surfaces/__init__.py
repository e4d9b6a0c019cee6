"""The protocols by which clients call operations; surfaces only translate."""
