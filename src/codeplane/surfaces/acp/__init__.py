"""The Agent Client Protocol: a session is a thread, a prompt a turn, a permission request an approval."""
