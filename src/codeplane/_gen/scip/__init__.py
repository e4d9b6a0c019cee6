"""Generated from proto/ by `make protos`; not edited."""
