"""What follows from what was seen: the verdict on a rate, and the next rate. Pure."""
