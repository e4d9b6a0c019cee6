"""Calls that go on after their answer."""
