"""What a patch does: each section located and painted, whole patches over files."""
