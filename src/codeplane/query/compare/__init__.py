"""Two states of a repository by their structure: what changed, what it breaks, and who uses it."""
