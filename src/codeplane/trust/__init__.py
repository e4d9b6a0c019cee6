"""The trust plane: identity, capabilities, policy, approvals, audit and idempotency."""
