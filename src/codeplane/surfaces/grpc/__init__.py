"""The services over gRPC, on a port of its own."""
