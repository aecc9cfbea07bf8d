"""Widgets: they paint what the engine tells and send intents."""
