"""The work plane: sessions and the tasks they carry."""
