"""What several parts share."""
