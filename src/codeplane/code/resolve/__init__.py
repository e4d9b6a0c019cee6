"""Resolves names through scopes, imports, exports and classes, by steps that are explicit in the syntax."""
