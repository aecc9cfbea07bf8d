"""The very first start: what was found on this machine, and three ways to begin.

`port` is what the screen needs of the outside, `pages` what is written on each page and chosen
there, `screen` goes from one page to the next.
"""
