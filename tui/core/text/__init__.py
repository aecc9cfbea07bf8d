"""Texts: buffers of lines, rows with their endings, differences and merges."""
