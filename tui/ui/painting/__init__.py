"""The way from changed widgets to bytes for the terminal: damaged cells only, one write a frame."""
