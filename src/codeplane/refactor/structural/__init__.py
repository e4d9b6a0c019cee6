"""Search and replace by the shape of the code: patterns in the language itself, with `$NAME` for what may differ."""
