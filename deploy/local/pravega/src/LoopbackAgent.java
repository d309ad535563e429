import java.io.ByteArrayInputStream;
import java.lang.instrument.ClassFileTransformer;
import java.lang.instrument.Instrumentation;
import java.security.ProtectionDomain;
import javassist.ClassPool;
import javassist.CtClass;
import javassist.LoaderClassPath;

/**
 * Java agent that makes every gRPC server of this process listen on 127.0.0.1.
 *
 * <p>Pravega 0.13.0's controller calls {@code NettyServerBuilder.forPort(port)}, which listens on every interface, and
 * no setting changes that. Here {@code forPort} becomes {@code forAddress(127.0.0.1:port)}. If that cannot be done, the
 * process ends: it must not start exposed.
 */
public final class LoopbackAgent {
    private static final String BUILDER = "io/grpc/netty/shaded/io/grpc/netty/NettyServerBuilder";

    private LoopbackAgent() {}

    public static void premain(String arguments, Instrumentation instrumentation) {
        instrumentation.addTransformer(new ClassFileTransformer() {
            @Override
            public byte[] transform(
                    ClassLoader loader, String name, Class<?> redefined, ProtectionDomain domain, byte[] code) {
                return BUILDER.equals(name) ? confined(loader, code) : null;
            }
        });
    }

    private static byte[] confined(ClassLoader loader, byte[] code) {
        try {
            ClassPool classes = new ClassPool();
            classes.appendClassPath(new LoaderClassPath(loader));
            CtClass builder = classes.makeClass(new ByteArrayInputStream(code));
            builder.getMethod("forPort", "(I)L" + BUILDER + ";")
                    .setBody("return forAddress(new java.net.InetSocketAddress(\"127.0.0.1\", $1));");
            return builder.toBytecode();
        } catch (Exception | LinkageError error) {
            // A transformer's exception is swallowed by the virtual machine, and the server would start unconfined.
            System.err.println("cannot confine gRPC to 127.0.0.1: " + error);
            Runtime.getRuntime().halt(1);
            return null;
        }
    }
}
