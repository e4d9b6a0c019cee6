"""Generated from proto/codeplane/v1 by `make protos`; not edited."""
