"""The operations that the dashboard brings along; they know nothing of the web."""
