"""The eight stages that every call passes, one file each; `progress` says how far a call has come."""
