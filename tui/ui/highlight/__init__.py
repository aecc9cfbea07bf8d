"""Syntax colours of buffers, by Pygments, a line at a time."""
