// SPDX-License-Identifier: Apache-2.0
package io.github.murmuration.spark.common.write;

import org.apache.spark.sql.connector.write.WriterCommitMessage;

/** All rows of a task are durable. */
public enum Written implements WriterCommitMessage {
    INSTANCE
}
