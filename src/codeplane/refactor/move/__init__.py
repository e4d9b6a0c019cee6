"""Planning of moves: files, folders and top-level symbols, with every import of them."""
