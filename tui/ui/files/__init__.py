"""The file tree with git's states, and the finder by a few letters."""
