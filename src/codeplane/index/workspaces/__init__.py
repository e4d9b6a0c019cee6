"""Further workspaces: folders and clones that can be asked about beside the repository itself."""
