"""The Model Context Protocol, over Streamable HTTP and over the stdio shim."""
