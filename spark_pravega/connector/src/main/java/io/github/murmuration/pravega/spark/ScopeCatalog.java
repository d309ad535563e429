package io.github.murmuration.pravega.spark;

import io.pravega.client.control.impl.Controller;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.function.Function;
import java.util.regex.Pattern;
import org.apache.spark.sql.catalyst.analysis.NamespaceAlreadyExistsException;
import org.apache.spark.sql.catalyst.analysis.NoSuchNamespaceException;
import org.apache.spark.sql.connector.catalog.NamespaceChange;
import org.apache.spark.sql.connector.catalog.SupportsNamespaces;
import org.apache.spark.sql.util.CaseInsensitiveStringMap;

/** Scopes as namespaces. What Pravega keeps for itself begins with an underscore, as no other name, and is hidden. */
abstract class ScopeCatalog implements SupportsNamespaces {
    private static final Pattern NAME = Pattern.compile("[\\p{Alnum}.-]+");

    private String name;
    private String[] defaultNamespace;
    private PravegaOptions options;

    /** @param given what follows {@code spark.sql.catalog.NAME.}; {@code scope} is the namespace if none is named */
    @Override
    public final void initialize(String catalog, CaseInsensitiveStringMap given) {
        for (String ofOneStream : List.of(PravegaOptions.STREAM, PravegaOptions.METADATA)) {
            if (given.containsKey(ofOneStream)) {
                throw new IllegalArgumentException("spark.sql.catalog." + catalog + "." + ofOneStream
                        + " has no meaning: the catalog has every stream as a table");
            }
        }
        name = catalog;
        options = new PravegaOptions(given);
        defaultNamespace = given.containsKey(PravegaOptions.SCOPE)
                ? new String[] {given.get(PravegaOptions.SCOPE)} : new String[0];
    }

    @Override
    public final String name() {
        return name;
    }

    @Override
    public final String[] defaultNamespace() {
        return defaultNamespace.clone();
    }

    final PravegaOptions options() {
        return options;
    }

    @Override
    public final String[][] listNamespaces() {
        return ask(connection -> {
            List<String[]> scopes = new ArrayList<>();
            connection.controller().listScopes().asIterator().forEachRemaining(scope -> {
                if (isName(scope)) {
                    scopes.add(new String[] {scope});
                }
            });
            return scopes.toArray(String[][]::new);
        });
    }

    @Override
    public final String[][] listNamespaces(String[] namespace) throws NoSuchNamespaceException {
        if (namespace.length == 0) {
            return listNamespaces();
        }
        scope(namespace);
        return new String[0][];
    }

    @Override
    public final Map<String, String> loadNamespaceMetadata(String[] namespace) throws NoSuchNamespaceException {
        scope(namespace);
        return Map.of();
    }

    /** @param metadata nothing but the owner, whom Spark names unasked and no one keeps */
    @Override
    public final void createNamespace(String[] namespace, Map<String, String> metadata)
            throws NamespaceAlreadyExistsException {
        if (namespace.length != 1) {
            throw new IllegalArgumentException("scopes hold no scopes: " + String.join(".", namespace));
        }
        metadata.keySet().stream().filter(property -> !property.equals(PROP_OWNER)).findAny().ifPresent(property -> {
            throw new UnsupportedOperationException("a scope has no properties, so no " + property);
        });
        requireName(namespace[0]);
        if (!ask(connection -> Waiting.on(connection.controller().createScope(namespace[0])))) {
            throw new NamespaceAlreadyExistsException(namespace);
        }
    }

    @Override
    public final void alterNamespace(String[] namespace, NamespaceChange... changes) {
        throw new UnsupportedOperationException("a scope has no properties");
    }

    /** Deletes an empty scope, with the records of queries that wrote into it. CASCADE deletes no streams either. */
    @Override
    public final boolean dropNamespace(String[] namespace, boolean cascade) throws NoSuchNamespaceException {
        String scope = scope(namespace);
        List<String> streams = streams(scope);
        if (!streams.isEmpty()) {
            throw new UnsupportedOperationException("the scope " + scope + " holds " + streams.size()
                    + " streams, first " + streams.get(0) + ": delete each with its events by DROP TABLE ... PURGE");
        }
        return ask(connection -> {
            List<String> tables = keyValueTables(connection.controller(), scope);
            if (tables.equals(List.of(EpochLog.TABLE))) {
                connection.tables().delete(scope, EpochLog.TABLE);
            }
            try {
                return Waiting.on(connection.controller().deleteScope(scope));
            } catch (IllegalStateException notEmpty) {
                throw new UnsupportedOperationException("the scope " + scope + " holds reader groups or key-value "
                        + "tables " + tables + ", no matter of Spark: delete them with Pravega's own tools", notEmpty);
            }
        });
    }

    private static List<String> keyValueTables(Controller controller, String scope) {
        List<String> names = new ArrayList<>();
        controller.listKeyValueTables(scope).asIterator()
                .forEachRemaining(table -> names.add(table.getKeyValueTableName()));
        return names;
    }

    /** The scope that a namespace names; if it names none, the catalog's own. */
    final String scope(String[] namespace) throws NoSuchNamespaceException {
        String[] named = namespace.length == 0 ? defaultNamespace : namespace;
        if (named.length != 1 || !isName(named[0])
                || !ask(connection -> Waiting.on(connection.controller().checkScopeExists(named[0])))) {
            throw new NoSuchNamespaceException(namespace);
        }
        return named[0];
    }

    final List<String> streams(String scope) {
        return ask(connection -> {
            List<String> names = new ArrayList<>();
            connection.controller().listStreams(scope).asIterator().forEachRemaining(stream -> {
                if (isName(stream.getStreamName())) {
                    names.add(stream.getStreamName());
                }
            });
            return names;
        });
    }

    final <T> T ask(Function<PravegaConnection, T> question) {
        try (Connections.Lease lease = Connections.lease(options)) {
            return question.apply(lease.connection());
        } catch (RuntimeException failed) {
            throw Waiting.unchecked(failed);
        }
    }

    static boolean isName(String name) {
        return NAME.matcher(name).matches();
    }

    static void requireName(String name) {
        if (!isName(name)) {
            throw new IllegalArgumentException(
                    "names in Pravega consist of letters, digits, '.' and '-' (put the latter in backquotes): " + name);
        }
    }
}
