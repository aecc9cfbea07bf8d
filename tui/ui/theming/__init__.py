"""Themes: files of colours, read, checked, completed; chosen, previewed, kept and reloaded.

`contrast` is the arithmetic, `mixes` and `tokens` are the tables, `theme_file` reads one file,
`palette` is what renderers paint with, `library` knows where themes are, `pairs` what is painted
on what, `wardrobe` dresses the app, `chooser` is the screen. Others use `tui.ui.theme`.
"""
