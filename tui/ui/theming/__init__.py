"""Themes: their files, the palettes made of them, the screen to choose one.

`theme_file` reads one file, `palette` is what renderers paint with, `contrast` the arithmetic of
colours, `contrast_check` tells what does not read, `theme_manager` applies themes to the app,
`chooser` is the screen. Others use `tui.ui.theme`.
"""
