"""The services over gRPC, on their own port."""
