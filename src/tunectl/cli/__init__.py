"""Parses, calls a use case, shows the result, returns an exit code."""
