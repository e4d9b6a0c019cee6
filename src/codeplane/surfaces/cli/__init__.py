"""The operator's command line, `cpl`."""
