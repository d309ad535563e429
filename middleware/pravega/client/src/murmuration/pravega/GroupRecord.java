package murmuration.pravega;

import io.pravega.client.tables.BadKeyVersionException;
import io.pravega.client.tables.Insert;
import io.pravega.client.tables.KeyValueTable;
import io.pravega.client.tables.Put;
import io.pravega.client.tables.Remove;
import io.pravega.client.tables.TableEntry;
import io.pravega.client.tables.TableKey;
import io.pravega.client.tables.Version;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;

/** What the members of one consumer group share: a value that is replaced only by who has seen the last one. */
public final class GroupRecord {
    static final int KEY_BYTES = 32;

    private final KeyValueTable table;
    private final TableKey key;
    private final long timeoutMs;
    private Version version = Version.NOT_EXISTS;

    GroupRecord(KeyValueTable table, TableKey key, long timeoutMs) {
        this.table = table;
        this.key = key;
        this.timeoutMs = timeoutMs;
    }

    /** Keys have a fixed length, names have not. */
    static TableKey key(String name) {
        try {
            byte[] digest = MessageDigest.getInstance("SHA-256").digest(name.getBytes(StandardCharsets.UTF_8));
            return new TableKey(ByteBuffer.wrap(digest));
        } catch (NoSuchAlgorithmException impossible) {
            throw new IllegalStateException(impossible);
        }
    }

    /** The value, or null. */
    public byte[] read() throws Exception {
        TableEntry entry = Connection.result(table.get(key), timeoutMs);
        version = entry == null ? Version.NOT_EXISTS : entry.getVersion();
        if (entry == null) {
            return null;
        }
        byte[] value = new byte[entry.getValue().remaining()];
        entry.getValue().duplicate().get(value);
        return value;
    }

    /** Replaces the value that was read or written last; false, if someone else replaced it meanwhile. */
    public boolean replace(byte[] value) throws Exception {
        ByteBuffer bytes = ByteBuffer.wrap(value);
        try {
            version = Connection.result(table.update(version == Version.NOT_EXISTS
                    ? new Insert(key, bytes) : new Put(key, bytes, version)), timeoutMs);
            return true;
        } catch (BadKeyVersionException changed) {
            return false;
        }
    }

    public void remove() throws Exception {
        Connection.result(table.update(new Remove(key)), timeoutMs);
    }
}
