"""What the services of the protos do, whichever protocol carries them: messages in, operations through the one door."""
