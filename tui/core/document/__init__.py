"""Two authors in one text: hunks, decisions and their undo, the disk, what a model is told."""
