"""Anthropic's Messages API, and what speaks it too, over HTTP with server-sent events."""
