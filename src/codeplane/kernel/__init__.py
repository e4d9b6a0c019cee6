"""Operations, calls, events and errors, and the conveyor that every call passes."""
