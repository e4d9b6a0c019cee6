"""What `cpl doctor` finds: each state is made for real, and each check has one that is sound beside it."""
