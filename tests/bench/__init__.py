"""Benchmarks: ratios between commands that run in turn on the same machine. Nothing here is a test."""
