// SPDX-License-Identifier: Apache-2.0
package io.github.murmuration.pravega.spark.write.append;

/** What is known of an epoch, or of the part of it that a segment was to get, by an append. */
public enum EpochState {
    /** It is not there, but may come yet. */
    ABSENT,
    /** It is there, all of it. */
    APPENDED,
    /** It is not there and cannot come any more. */
    FENCED
}
