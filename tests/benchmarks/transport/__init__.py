"""``transport``: what the persistent socket is worth, against HTTP and SSE.

Four processes: this one, which asks and reports; the `server`; the `far_network` between; and the
`clients`, alone in theirs, so that its processor time is theirs.
"""
