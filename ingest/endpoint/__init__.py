"""The HTTP endpoint for pushed tweets, and what publishes them."""
