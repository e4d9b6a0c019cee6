"""What tasks drawn from real commits cost an agent with native tools, and with CodePlane's."""
