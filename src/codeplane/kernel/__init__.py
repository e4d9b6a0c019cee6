"""What an operation, a call, an event and an error are, and the conveyor every call passes."""
