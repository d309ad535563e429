"""What the parts of a running instance say of themselves."""
