"""Throw-away copies of the workspace, in which commands run."""
