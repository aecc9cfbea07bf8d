"""``edit``: what it costs that a buffer changes while a model speaks.

`samples` makes files and edits in every format, `core_costs` measures what needs no screen,
`screen_costs` the real program in a pseudo-terminal; `targets` judges, `report` tells.
"""
