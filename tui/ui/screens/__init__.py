"""Screens: the workbench and what opens over it."""
