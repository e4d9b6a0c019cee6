"""What a file says, by syntax alone: definitions, scopes, bindings, imports, exports."""
