"""What is remembered of what was read, and what follows from it: pure, or on disk only to spare memory."""
