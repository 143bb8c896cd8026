package io.roseinfer.base;

import java.io.FileDescriptor;
import java.io.FileOutputStream;
import java.io.FilterOutputStream;
import java.io.IOException;
import java.io.OutputStream;
import java.nio.file.Path;
import java.util.Map;
import java.util.Optional;

/**
 * A standard stream of the process, named by a file such as {@code /dev/stdout}. It is written through its descriptor. Opening
 * the name again would have a position of its own, and overwrite other text in a file that a shell redirects the stream to.
 */
public final class StandardStream {
    private static final Map<String, FileDescriptor> NAMED = Map.of(
            "/dev/stdout", FileDescriptor.out,
            "/dev/fd/1", FileDescriptor.out,
            "/proc/self/fd/1", FileDescriptor.out,
            "/dev/stderr", FileDescriptor.err,
            "/dev/fd/2", FileDescriptor.err,
            "/proc/self/fd/2", FileDescriptor.err);

    private final FileDescriptor descriptor;

    private StandardStream(FileDescriptor descriptor) {
        this.descriptor = descriptor;
    }

    /** Returns the stream that a file name stands for; empty for any other file. */
    public static Optional<StandardStream> named(Path file) {
        return Optional.ofNullable(NAMED.get(file.toString())).map(StandardStream::new);
    }

    /** Returns an unbuffered stream. Closing it keeps the process's stream open. */
    public OutputStream open() {
        return new FilterOutputStream(new FileOutputStream(descriptor)) {
            @Override
            public void write(byte[] bytes, int start, int length) throws IOException {
                out.write(bytes, start, length);
            }

            @Override
            public void close() throws IOException {
                flush();
            }
        };
    }
}
