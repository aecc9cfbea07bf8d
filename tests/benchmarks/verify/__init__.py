"""What it costs to verify what the screen shows."""
