"""What `cpl doctor` looks at: a file for each thing that can be wrong, each with what it says and what mends it."""
