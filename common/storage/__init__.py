"""Files that survive a crash, and what is told of stores."""
