"""The store of sessions: logs that a session writes, and the SQLite file that they end in."""
