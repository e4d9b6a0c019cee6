"""The dashboard: what a person sees of CodePlane in a browser."""
