"""The events that a thread is shown of the outside agent that runs it."""

AGENT_STARTED, AGENT_CHANGED = "agent.started", "agent.changed"
AGENT_PLAN, AGENT_USAGE, AGENT_PROBLEM = "agent.plan", "agent.usage", "agent.problem"
# The work tree of the thread: made, applied to the checkout, or discarded.
TREE_OPENED, TREE_APPLIED, TREE_DISCARDED = "agent.tree_opened", "agent.tree_applied", "agent.tree_discarded"
