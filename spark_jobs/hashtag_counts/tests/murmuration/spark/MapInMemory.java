package murmuration.spark;

import java.util.HashMap;
import java.util.Map;
import org.apache.spark.sql.streaming.MapState;
import scala.Tuple2;
import scala.collection.Iterator;
import scala.jdk.javaapi.CollectionConverters;

/** A state that tells what is written to it. */
final class MapInMemory implements MapState<Long, byte[]> {
    private final Map<Long, byte[]> entries = new HashMap<>();
    private int writes;

    int writes() {
        return writes;
    }

    int size() {
        return entries.size();
    }

    @Override
    public boolean exists() {
        return !entries.isEmpty();
    }

    @Override
    public byte[] getValue(Long key) {
        return entries.get(key);
    }

    @Override
    public boolean containsKey(Long key) {
        return entries.containsKey(key);
    }

    @Override
    public void updateValue(Long key, byte[] value) {
        entries.put(key, value);
        writes++;
    }

    @Override
    public Iterator<Tuple2<Long, byte[]>> iterator() {
        return CollectionConverters.asScala(
                entries.entrySet().stream().map(entry -> new Tuple2<>(entry.getKey(), entry.getValue())).iterator());
    }

    @Override
    public Iterator<Long> keys() {
        return CollectionConverters.asScala(entries.keySet().iterator());
    }

    @Override
    public Iterator<byte[]> values() {
        return CollectionConverters.asScala(entries.values().iterator());
    }

    @Override
    public void removeKey(Long key) {
        entries.remove(key);
    }

    @Override
    public void clear() {
        entries.clear();
    }
}
