"""The Responses WebSocket protocol without any I/O: events, addresses, words, and both sides."""
