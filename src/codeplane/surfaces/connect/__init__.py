"""The services over HTTP: Connect in both its forms, and gRPC-Web."""
