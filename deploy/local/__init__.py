"""One machine: real, durable servers as ordinary processes under supervisor, on loopback."""
