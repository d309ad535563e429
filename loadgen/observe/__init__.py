"""What is seen of an experiment: stages, processes, the machine."""
