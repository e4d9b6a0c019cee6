"""The policy in Rego."""
