// SPDX-License-Identifier: Apache-2.0
package io.github.murmuration.spark.common.read;

/** Where a read begins. */
public enum StartingOffsets {
    EARLIEST, LATEST
}
