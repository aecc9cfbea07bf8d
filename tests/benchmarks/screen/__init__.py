"""``stream`` and ``ui``: what a person sees, measured from outside.

The real binary runs in a pseudo-terminal against a `replay_server` on loopback. What it writes
is kept with the time at which it came and read afterwards by a terminal emulator (`terminal`), so
that reading it costs nothing while it is measured. Clients of another make can be measured beside
it (`stand`).
"""
