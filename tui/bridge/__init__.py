"""The bridge: its own process on 127.0.0.1 that serves models over Responses WebSocket mode."""
