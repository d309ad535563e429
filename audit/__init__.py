"""The audit: what every stage of an instance holds of what was acknowledged, and what is missing or there twice."""
