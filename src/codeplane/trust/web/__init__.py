"""Pages fetched for agents: public addresses alone, bounded, and never believed."""
