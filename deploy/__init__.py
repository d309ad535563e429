"""What runs where."""
