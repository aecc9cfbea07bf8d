"""Endpoints that speak the Responses API over WebSocket themselves: the bridge relays."""
