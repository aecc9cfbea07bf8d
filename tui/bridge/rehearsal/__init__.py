"""The rehearsal model: plays the practice workspace's exercises, with no network and no key.

`scripts` and `scripts/*.toml` say what it knows, `request` reads a request, `answers` decides what
to answer, `patches` turns the wanted change into a patch against the text in the request, and
`player` gives it out at an exact number of tokens a second. Seed and clock are arguments.
"""

RECORD = ".practice.json"
"""A practice workspace has this file: which files belong to an exercise, and how they came."""
TRY_HERE = "try it here: a comment in one of my files"
"""What is suggested in a folder of the user's."""
