"""The services of the protos, independent of the protocol that carries them."""
