"""Looking at changes: the review of a whole turn, and diffs against disk, HEAD and turn's start."""
