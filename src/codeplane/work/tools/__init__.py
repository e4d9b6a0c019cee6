"""Tools of other programs as operations: their servers, what they may do, and who says so."""
