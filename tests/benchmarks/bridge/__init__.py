"""``bridge``: what the bridge adds to an upstream, and how much it holds.

`measurement.measure` starts the real bridge, a provider's stand-in and the clients, each a process
of its own, and takes the figures.
"""
