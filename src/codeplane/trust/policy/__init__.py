"""The policy in Rego, which allows, asks about or denies calls."""
