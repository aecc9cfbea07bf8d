"""What lies on the disk and what belongs there."""
