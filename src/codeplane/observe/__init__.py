"""What CodePlane tells about itself: logs, metrics, status."""
