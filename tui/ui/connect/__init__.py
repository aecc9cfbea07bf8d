"""Connecting a model, and choosing among those that are connected.

`sheet` is what a screen of rows is made of, `screen` the way from a provider to what is written,
`models` the list of all models.
"""
