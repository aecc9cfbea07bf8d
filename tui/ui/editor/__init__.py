"""The editor: text, cursor, painting, tabs, find, file finder."""
