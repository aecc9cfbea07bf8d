"""Decisions on hunks and on turns, and their undo."""
