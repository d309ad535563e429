package murmuration.spark;

import java.io.IOException;
import java.net.URI;
import java.net.URISyntaxException;
import java.nio.file.Files;
import java.nio.file.attribute.PosixFilePermissions;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.fs.DelegateToFileSystem;
import org.apache.hadoop.fs.FileStatus;
import org.apache.hadoop.fs.LocalFileSystem;
import org.apache.hadoop.fs.Path;
import org.apache.hadoop.fs.RawLocalFileSystem;
import org.apache.hadoop.fs.permission.FsPermission;

/**
 * Checkpoints on the local disk without child processes.
 *
 * <p>Where Hadoop's native library is missing, as in Spark's Python package, Hadoop runs chmod and readlink for every
 * file that it creates or renames: dozens of processes for one micro-batch. Java does the same by itself.
 */
public final class LocalFiles extends DelegateToFileSystem {
    public LocalFiles(URI uri, Configuration configuration) throws IOException, URISyntaxException {
        super(uri, new Posix(), configuration, "file", false);
    }

    @Override
    public int getUriDefaultPort() {
        return -1; // a path has none
    }

    /** The same for those who ask for a FileSystem: Hadoop insists on this class when Spark uploads a copy of state. */
    public static final class Raw extends LocalFileSystem {
        public Raw() {
            super(new Posix());
            setWriteChecksum(false); // the disk has checksums of its own
            setVerifyChecksum(false);
        }
    }

    private static final class Posix extends RawLocalFileSystem {
        @Override
        public void setPermission(Path path, FsPermission permission) throws IOException {
            String symbols = permission.getUserAction().SYMBOL + permission.getGroupAction().SYMBOL
                    + permission.getOtherAction().SYMBOL;
            Files.setPosixFilePermissions(pathToFile(path).toPath(), PosixFilePermissions.fromString(symbols));
        }

        /** No checkpoint holds symbolic links. */
        @Override
        public FileStatus getFileLinkStatus(Path path) throws IOException {
            return getFileStatus(path);
        }
    }
}
