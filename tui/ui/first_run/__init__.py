"""The very first start: what was found on this machine, and three ways to begin.

`port` is what the screen needs of the outside, `chooser` a list with one row lit, `pages` what is
written on each page, `screen` paints them and goes from one to the next.
"""
