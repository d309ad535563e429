"""What the processes tell each other of themselves through Redis: counters, latencies, retention, durability."""
