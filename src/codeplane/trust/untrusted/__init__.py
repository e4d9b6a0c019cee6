"""Content that others wrote: which agents have read it, and what that means for their outward calls."""
