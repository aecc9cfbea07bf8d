"""Thin asynchronous effects: one outside resource a module, no imports among them."""
