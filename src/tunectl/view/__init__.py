"""Prints results. Knows no rules."""
