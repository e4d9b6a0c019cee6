"""Files, folders and top-level symbols that go elsewhere, with every import that names them."""
