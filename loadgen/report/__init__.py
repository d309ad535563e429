"""What is written and shown of experiments."""
