"""What keeps git from harm: the enclosed command line, what would be lost, what is kept of it."""
