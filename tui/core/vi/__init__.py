"""The keys of vi over a text and a place in it; nothing here knows of a screen."""
