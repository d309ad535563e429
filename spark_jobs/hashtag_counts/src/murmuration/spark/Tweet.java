package murmuration.spark;

import java.util.Collection;

/** What counts of an enriched tweet. {@code sentUs} is null if the event does not tell; each hashtag is there once. */
record Tweet(long id, long createdMs, Long sentUs, Collection<String> hashtags) {}
