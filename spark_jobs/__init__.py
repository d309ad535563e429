"""The Spark queries and their pure transformations."""
