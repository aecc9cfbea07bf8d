"""The Responses API over HTTP with server-sent events."""
