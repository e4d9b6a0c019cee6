"""`cpl demo`: a recorded agent session, replayed on a sample repository with a real server."""
