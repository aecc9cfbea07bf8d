"""The map of the project: made in a process of its own, which is asked for it."""
