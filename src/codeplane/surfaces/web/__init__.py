"""The dashboard, CodePlane's web interface."""
