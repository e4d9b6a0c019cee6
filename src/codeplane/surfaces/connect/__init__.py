"""The services over HTTP: Connect in JSON and binary, and gRPC-Web."""
