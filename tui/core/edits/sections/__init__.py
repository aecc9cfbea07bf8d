"""One section of a patch: located, painted, landed or taken back."""
