"""The configuration files of coding clients, and our entry in them."""
