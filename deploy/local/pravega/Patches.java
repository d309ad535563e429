import java.io.FileOutputStream;
import java.io.OutputStream;
import java.util.List;
import java.util.jar.JarEntry;
import java.util.jar.JarOutputStream;
import javassist.ClassPool;
import javassist.CtClass;

/**
 * Writes a jar with the two classes of Pravega 0.13.0's servers that are not used as published; it comes before theirs
 * on the class path. Ends with an error where a method to change is not there.
 *
 * <pre>java -cp 'folder of the servers' jars/*' Patches.java TO.jar</pre>
 */
public final class Patches {
    private static final String BUILDER = "io.grpc.netty.shaded.io.grpc.netty.NettyServerBuilder";
    private static final String TABLE_PROCESSOR = "io.pravega.segmentstore.server.tables.WriterTableProcessor";
    private static final String APPEND =
            "io.pravega.segmentstore.server.logs.operations.CachedStreamSegmentAppendOperation";

    private Patches() {}

    public static void main(String[] arguments) throws Exception {
        ClassPool classes = ClassPool.getDefault();
        // All or nothing: with a part of them the controller could start exposed.
        List<CtClass> changed =
                List.of(listenWhereTold(classes.get(BUILDER)), passOverEmptyAppends(classes.get(TABLE_PROCESSOR)));
        try (OutputStream file = new FileOutputStream(arguments[0]); JarOutputStream jar = new JarOutputStream(file)) {
            for (CtClass one : changed) {
                jar.putNextEntry(new JarEntry(one.getName().replace('.', '/') + ".class"));
                jar.write(one.toBytecode());
                jar.closeEntry();
            }
        }
    }

    /**
     * The controller listens on every interface, by {@code forPort(port)}, and no setting changes that: on that of the
     * property {@code murmur.bind}, or else on loopback.
     */
    private static CtClass listenWhereTold(CtClass builder) throws Exception {
        builder.getMethod("forPort", "(I)L" + BUILDER.replace('.', '/') + ";").setBody(
                "return forAddress(new java.net.InetSocketAddress("
                        + "System.getProperty(\"murmur.bind\", \"127.0.0.1\"), $1));");
        return builder;
    }

    /**
     * A table without anything to add or to remove is appended nothing, which can never be written to its index. Until
     * the next true append, or for 30 s after a start, the storage writer turns in an empty loop because of it: most of
     * a core for half a minute.
     */
    private static CtClass passOverEmptyAppends(CtClass processor) throws Exception {
        processor.getDeclaredMethod("add").insertBefore(
                "if ($1 instanceof %1$s && ((%1$s) $1).getLength() == 0L) return;".replace("%1$s", APPEND));
        return processor;
    }
}
