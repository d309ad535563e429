package io.github.murmuration.pravega.spark;

/** What is known of an epoch that a segment was to get by an append. */
enum EpochState {
    /** It is not there, but may come yet. */
    ABSENT,
    /** It is there, all of it. */
    APPENDED,
    /** It is not there and cannot come any more. */
    FENCED
}
