"""Use cases, one file per verb. They return results and raise errors; they never print."""
