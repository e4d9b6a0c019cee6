"""The trust plane: who calls, what they may do, and what was already done."""
