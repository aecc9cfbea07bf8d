"""The Textual front end: the only layer that paints."""
