"""The HTTP server: probes, the generic operation service, and the event stream."""
