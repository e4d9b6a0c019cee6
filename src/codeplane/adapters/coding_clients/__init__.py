"""The settings of coding clients: where they are, and our entry in them."""
