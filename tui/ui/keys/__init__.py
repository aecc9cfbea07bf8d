"""The keys of duetto, as tables: what `keymap` reads."""
