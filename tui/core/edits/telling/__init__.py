"""What the model and the user are told of hunks."""
