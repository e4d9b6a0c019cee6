"""Programming languages: one package a family, with all that is known of its languages; `registry.py` lists them."""
