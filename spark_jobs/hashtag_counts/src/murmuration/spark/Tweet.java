package murmuration.spark;

import java.util.Collection;

/** What counts of an enriched tweet; each hashtag is there once. */
record Tweet(long id, long createdMs, long sentUs, Collection<String> hashtags) {}
