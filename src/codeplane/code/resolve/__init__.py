"""What a name means: through scopes, imports, exports and classes, each hop explicit in the syntax."""
