"""``edit``: what it costs that a buffer changes while a model speaks.

`samples` makes files and edits in every format, `core` measures what needs no screen,
`screen_run` the real program in a pseudo-terminal; `figures` has names, targets and amounts.
"""
