"""The ways to ask a model that are compared."""

from __future__ import annotations

SSE_NEW = "sse-new"
"""A new HTTPS connection for every turn, the whole history in its body, the answer by SSE."""
SSE_KEPT = "sse-keepalive"
"""The same on one HTTPS connection that is kept."""
WS_FULL = "ws-full"
"""One WebSocket, the whole history in every turn."""
WS_INCREMENTAL = "ws-incremental"
"""One WebSocket, the parent's id and only the new items in every turn: what duetto does."""
TRANSPORTS = (SSE_NEW, SSE_KEPT, WS_FULL, WS_INCREMENTAL)

PLAIN_JSON = "websockets + json.loads"
"""Name of the row for the WebSocket library by itself, beside `SSE_KEPT` and our own wire."""
TOKEN_CLIENTS = (SSE_KEPT, PLAIN_JSON, WS_INCREMENTAL)
