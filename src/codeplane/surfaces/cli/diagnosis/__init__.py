"""The checks of `cpl doctor`, one file for each area."""
