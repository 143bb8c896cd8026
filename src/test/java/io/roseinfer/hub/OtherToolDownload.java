package io.roseinfer.hub;

import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.lang.foreign.Arena;
import java.lang.foreign.FunctionDescriptor;
import java.lang.foreign.Linker;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.lang.invoke.MethodHandle;
import java.net.HttpURLConnection;
import java.net.URI;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.nio.file.StandardOpenOption;

/**
 * Another process, which downloads a blob like the Python tools of 2025: it locks by {@code flock}, which is
 * independent of Java's locks, appends to {@code <etag>.incomplete}, checks only the size, and renames.
 */
final class OtherToolDownload {
    private static final int CREATE_AND_WRITE = 0x41;
    private static final int EXCLUSIVE = 2;
    private static final int PIECE_BYTES = 1 << 14;

    private OtherToolDownload() {}

    /** Takes the cache, the blob's address, its hash and its size. */
    public static void main(String[] arguments) throws Throwable {
        Path cache = Path.of(arguments[0]);
        String etag = arguments[2];
        Path blobs = Files.createDirectories(
                cache.resolve(HubTestBase.ID.folderName()).resolve("blobs"));
        Path locks = Files.createDirectories(cache.resolve(".locks").resolve(HubTestBase.ID.folderName()));
        lock(locks.resolve(etag + ".lock"));
        if (!Files.exists(blobs.resolve(etag))) {
            download(
                    URI.create(arguments[1]),
                    blobs.resolve(etag + ".incomplete"),
                    blobs.resolve(etag),
                    Long.parseLong(arguments[3]));
        }
    }

    /** Takes the lock until the process ends. */
    private static void lock(Path file) throws Throwable {
        try (Arena arena = Arena.ofConfined()) {
            MemorySegment path = arena.allocateFrom(file.toString());
            FunctionDescriptor open = FunctionDescriptor.of(
                    ValueLayout.JAVA_INT, ValueLayout.ADDRESS, ValueLayout.JAVA_INT, ValueLayout.JAVA_INT);
            int descriptor = (int)
                    libc("open", open, Linker.Option.firstVariadicArg(2)).invokeExact(path, CREATE_AND_WRITE, 0644);
            FunctionDescriptor flock =
                    FunctionDescriptor.of(ValueLayout.JAVA_INT, ValueLayout.JAVA_INT, ValueLayout.JAVA_INT);
            int failure = (int) libc("flock", flock).invokeExact(descriptor, EXCLUSIVE);
            if (descriptor < 0 || failure != 0) {
                throw new IOException("no lock");
            }
        }
    }

    @SuppressWarnings("restricted") // the only way to call flock
    private static MethodHandle libc(String name, FunctionDescriptor type, Linker.Option... options) {
        Linker linker = Linker.nativeLinker();
        return linker.downcallHandle(linker.defaultLookup().findOrThrow(name), type, options);
    }

    private static void download(URI address, Path incomplete, Path blob, long size) throws IOException {
        try (OutputStream out =
                Files.newOutputStream(incomplete, StandardOpenOption.CREATE, StandardOpenOption.APPEND)) {
            HttpURLConnection connection = (HttpURLConnection) address.toURL().openConnection();
            connection.setRequestProperty("Range", "bytes=" + Files.size(incomplete) + "-");
            byte[] piece = new byte[PIECE_BYTES];
            try (InputStream in = connection.getInputStream()) {
                for (int read = in.read(piece); read >= 0; read = in.read(piece)) {
                    out.write(piece, 0, read);
                }
            }
        }
        if (Files.size(incomplete) != size) {
            throw new IOException("consistency check failed: " + Files.size(incomplete) + " bytes");
        }
        Files.move(incomplete, blob, StandardCopyOption.ATOMIC_MOVE, StandardCopyOption.REPLACE_EXISTING);
    }
}
