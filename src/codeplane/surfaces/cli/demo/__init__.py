"""`cpl demo`: a recorded agent session, played against a sample repository by a real server."""
