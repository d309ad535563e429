"""What makes the text encoder, once, at set-up."""
