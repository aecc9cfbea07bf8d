"""Find and replace in a file, and its outline."""
