"""What stands at a place: what its name means, who refers to it, and how its file is built."""
