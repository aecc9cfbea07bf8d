"""Two authors in one text: hunks from placement to decision, the user's undo, the disk."""
