"""Endpoints that speak HTTP+SSE, served as Responses WebSocket mode (PROTOCOL section 12).

``sse`` cuts the byte stream into messages, ``retelling`` tells a run what they say, ``upstream``
holds the connections (aiohttp: imported when the first socket asks for an endpoint), ``performer``
plays a run with them; ``endpoints`` reads what the app names on stdin.
"""
