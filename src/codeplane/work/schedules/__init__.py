"""Schedules: what wakes work by the clock, once for each time, over restarts and changes of the clock."""
