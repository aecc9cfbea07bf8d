"""What a patch does to files: updates, additions, deletions, moves; one landing a call."""
