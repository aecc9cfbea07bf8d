"""Git, asked through its own program, without running or locking anything."""
