"""What sends: generators of tweets, and users."""
