"""Structural search and replace: patterns written as code, with `$NAME` for the parts that may differ."""
