"""Proposals of agents to change how CodePlane works here, which take effect when the owner applies them."""
