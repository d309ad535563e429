// SPDX-License-Identifier: Apache-2.0
package io.github.murmuration.pravega.spark.client;

import io.pravega.client.control.impl.Controller;
import io.pravega.client.segment.impl.Segment;
import io.pravega.shared.NameUtils;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Proxy;

/**
 * A controller for the client of key-value tables, so that a secured Pravega lets it in: the segments of a table bear
 * its name with a suffix, but the client of 0.13 asks for the permission to a stream of the table's plain name, which
 * the segment store does not accept for them.
 */
final class TablePermissions {
    private static final String ASK_FOR_PERMISSION = "getOrRefreshDelegationTokenFor";

    private TablePermissions() {
    }

    static Controller of(Controller controller) {
        return (Controller) Proxy.newProxyInstance(
                Controller.class.getClassLoader(), new Class<?>[] {Controller.class}, (proxy, method, arguments) -> {
                    if (method.getName().equals(ASK_FOR_PERMISSION)) {
                        arguments[1] = nameInSegments((String) arguments[0], (String) arguments[1]);
                    }
                    try {
                        return method.invoke(controller, arguments);
                    } catch (InvocationTargetException failed) {
                        throw failed.getCause();
                    }
                });
    }

    private static String nameInSegments(String scope, String table) {
        return Segment.fromScopedName(NameUtils.getQualifiedTableSegmentName(scope, table, 0)).getStreamName();
    }
}
