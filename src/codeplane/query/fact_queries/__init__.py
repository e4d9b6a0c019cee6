"""The bounded queries over facts (002 §7.8)."""
