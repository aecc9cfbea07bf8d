"""Between the app and the terminal: keys in, frames out, what it can show and what it is told."""
