package io.roseinfer.hub;

import io.roseinfer.base.FileFailure;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;

/**
 * A blob's bytes on their way in, under a name that no other tool writes to. The file only grows: starting over makes a new one in
 * its place. So if a lock has not kept its promise and the old file has been published meanwhile, it is not cut short.
 */
final class PartialFile implements AutoCloseable {
    private final Path path;
    private volatile FileChannel out;

    private PartialFile(Path path, FileChannel out) {
        this.path = path;
        this.out = out;
    }

    /** Opens what an earlier attempt has left, or an empty file. */
    static PartialFile open(Path path) {
        try {
            return new PartialFile(path, channel(path));
        } catch (IOException e) {
            throw FileFailure.writing(path, e);
        }
    }

    private static FileChannel channel(Path path) throws IOException {
        return FileChannel.open(path, StandardOpenOption.CREATE, StandardOpenOption.WRITE);
    }

    Path path() {
        return path;
    }

    long size() throws IOException {
        return out.size();
    }

    /** Writes all of {@code piece} at {@code position}. */
    void write(ByteBuffer piece, long position) throws IOException {
        long to = position;
        while (piece.hasRemaining()) {
            to += out.write(piece, to);
        }
    }

    /**
     * Puts an empty file in this one's place, unless this one is empty.
     *
     * @throws IOException if this one has been closed, too: a late answer to an attempt that was given up may not take away the
     *     file of the next one
     */
    synchronized void startOver() throws IOException {
        if (out.size() > 0) {
            out.close();
            Files.deleteIfExists(path);
            out = channel(path);
        }
    }

    /** Waits until the bytes are on the disk. */
    void force() throws IOException {
        out.force(true);
    }

    @Override
    public synchronized void close() throws IOException {
        out.close();
    }
}
