"""Shell commands of agents: asked about, enclosed, bounded and recorded."""
