package io.roseinfer.batch;

import io.roseinfer.base.Clock;
import io.roseinfer.base.FileFailure;
import io.roseinfer.base.RoseException.BadInput;
import java.io.BufferedOutputStream;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.nio.channels.Channels;
import java.nio.channels.FileChannel;
import java.nio.channels.OverlappingFileLockException;
import java.nio.channels.WritableByteChannel;
import java.nio.charset.StandardCharsets;
import java.nio.file.FileAlreadyExistsException;
import java.nio.file.Files;
import java.nio.file.OpenOption;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.Set;

/**
 * The file of a batch's answers, to which lines are added and nothing else is done, so that a process killed at any moment leaves whole
 * lines and at most a piece of one behind. A name in {@code .zst} has it compressed, in frames of whole lines: what a killed process
 * leaves of a frame is lost with its lines, so a frame is ended every few seconds.
 */
public final class BatchOutput implements AutoCloseable {
    private static final int KEY_START = BatchModel.LINE_PREFIX.length();
    private static final int KEY_END = KEY_START + RequestKey.TEXT_CHARS;

    /** A line as far as its key. */
    private static final String MIN_LINE = BatchModel.LINE_PREFIX + "0".repeat(RequestKey.TEXT_CHARS);

    private static final Path DESCRIPTORS = Path.of("/dev/fd");
    private static final Set<Path> STANDARD_STREAMS = Set.of(Path.of("/dev/stdout"), Path.of("/dev/stderr"));
    private static final int BUFFER_BYTES = 1 << 16;
    private static final int FRAME_BYTES = 1 << 22;
    private static final long FRAME_NANOS = 5_000_000_000L;

    private final Path path;
    private final SeenKeys keys;
    private final WritableByteChannel channel;
    private final OutputStream out;
    private final Clock clock;

    /** Lines are on their way to the file together until they are so many bytes. */
    private final int maxBytes;

    /** Or until the first of them is so old. */
    private final long maxNanos;

    private int heldBytes;
    private long heldSinceNanos;
    private boolean failed;

    BatchOutput(Path path, WritableByteChannel channel, SeenKeys keys, Clock clock) throws IOException {
        OutputStream file = new BufferedOutputStream(Channels.newOutputStream(channel), BUFFER_BYTES);
        boolean compressed = ZstdText.isNamed(path);
        this.path = path;
        this.channel = channel;
        this.keys = keys;
        this.out = compressed ? ZstdText.compressed(file) : file;
        this.maxBytes = compressed ? FRAME_BYTES : BUFFER_BYTES;
        this.maxNanos = compressed ? FRAME_NANOS : 0;
        this.clock = clock;
    }

    /**
     * Begins a file. A pipe, a device or an open file descriptor is written to as it is.
     *
     * @throws BadInput if the file exists, or cannot be written
     */
    public static BatchOutput create(Path path, Clock clock) {
        boolean stream = isDescriptor(path) || (Files.exists(path) && !Files.isRegularFile(path));
        try {
            FileChannel channel = open(
                    path,
                    stream
                            ? Set.of(StandardOpenOption.APPEND)
                            : Set.of(StandardOpenOption.CREATE_NEW, StandardOpenOption.APPEND));
            return new BatchOutput(path, channel, new SeenKeys(), clock);
        } catch (FileAlreadyExistsException e) {
            throw new BadInput(
                    "--output " + FileFailure.shown(path)
                            + " exists; go on with it by --resume, name another file, or remove it",
                    e);
        } catch (IOException e) {
            throw failed(path, e);
        }
    }

    private static boolean isDescriptor(Path path) {
        return path.startsWith(DESCRIPTORS) || STANDARD_STREAMS.contains(path);
    }

    /**
     * Goes on with a file, or begins it. A piece of a batch's line or frame at its end is cut off.
     *
     * @throws BadInput if it has text that no batch has written, or another process writes it
     */
    public static BatchOutput resume(Path path, Clock clock) {
        if (Files.exists(path) && !Files.isRegularFile(path)) {
            throw new BadInput("--resume needs a file, and " + FileFailure.shown(path)
                    + " is none; leave --resume out, or name another --output");
        }
        try {
            FileChannel channel =
                    open(path, Set.of(StandardOpenOption.CREATE, StandardOpenOption.READ, StandardOpenOption.WRITE));
            try {
                SeenKeys keys = new SeenKeys();
                long end = readKeys(path, channel, keys);
                return new BatchOutput(path, channel.truncate(end).position(end), keys, clock);
            } catch (IOException | BadInput e) {
                channel.close();
                throw e;
            }
        } catch (IOException e) {
            throw failed(path, e);
        }
    }

    /** A file that no other process has open for a batch, as far as the file system can tell. */
    private static FileChannel open(Path path, Set<? extends OpenOption> options) throws IOException {
        FileChannel channel = FileChannel.open(path, options);
        if (Files.isRegularFile(path) && !isLocked(channel)) {
            channel.close();
            throw new BadInput("--output " + FileFailure.shown(path) + " is being written by another process; wait for"
                    + " its end, or name another file");
        }
        return channel;
    }

    private static boolean isLocked(FileChannel channel) {
        try {
            return channel.tryLock() != null;
        } catch (OverlappingFileLockException here) {
            return false;
        } catch (IOException noLocksThere) {
            return true;
        }
    }

    private static BadInput failed(Path path, IOException e) {
        return new BadInput("--output " + FileFailure.shown(path) + " cannot be written: " + FileFailure.reason(e), e);
    }

    /**
     * Reads the keys of all whole lines, and returns where the last of them ends in the file. The channel itself is read, because closing
     * another one would give up the lock.
     *
     * @throws BadInput if a line, or the piece at the end that is about to be cut off, is not a batch's
     */
    private static long readKeys(Path path, FileChannel channel, SeenKeys keys) throws IOException {
        boolean compressed = ZstdText.isNamed(path);
        long whole = compressed ? ZstdText.wholeFrames(channel, path) : channel.size();
        long end = 0;
        long number = 0;
        try (LineReader lines = lines(channel, 0, whole, compressed)) {
            while (lines.next()) {
                number = lines.number();
                RequestKey key = key(path, lines, number);
                if (lines.isTerminated()) {
                    keys.addWritten(key);
                    end = lines.end();
                } else if (compressed) {
                    throw foreign(path, number);
                }
            }
        }
        if (!compressed) {
            return end;
        }
        try (LineReader lines = lines(channel, whole, channel.size(), true)) {
            while (lines.next()) {
                RequestKey unused = key(path, lines, number + lines.number());
            }
        }
        return whole;
    }

    private static LineReader lines(FileChannel channel, long from, long to, boolean compressed) throws IOException {
        InputStream file = new FirstBytes(Channels.newInputStream(channel.position(from)), to - from);
        return new LineReader(compressed ? ZstdText.expandedPiece(file) : file, KEY_END);
    }

    /** Returns the key of a line; of one that breaks off within its key, a key that it could have had. */
    private static RequestKey key(Path path, LineReader lines, long number) {
        String line = new String(lines.line(), StandardCharsets.ISO_8859_1);
        if (line.length() < KEY_END && !lines.isTerminated()) {
            line += MIN_LINE.substring(line.length());
        }
        if (line.length() < KEY_END || !line.startsWith(BatchModel.LINE_PREFIX)) {
            throw foreign(path, number);
        }
        return RequestKey.parse(line.substring(KEY_START, KEY_END)).orElseThrow(() -> foreign(path, number));
    }

    private static BadInput foreign(Path path, long number) {
        return new BadInput("--resume: line " + number + " of " + FileFailure.shown(path)
                + " was not written by roseinfer batch; name a file that it wrote");
    }

    /**
     * Adds a line.
     *
     * @param line with its newline
     * @throws BadInput if it cannot be written; then nothing more is, as the lines held may be in the file in part
     */
    void write(byte[] line) {
        try {
            if (heldBytes == 0) {
                heldSinceNanos = clock.nanos();
            }
            out.write(line);
            heldBytes += line.length;
            if (heldBytes >= maxBytes) {
                flush();
            }
        } catch (IOException e) {
            throw broken(e);
        }
    }

    /** Says that no line follows for the moment, so that those that have waited long enough go to the file. */
    void rest() {
        if (heldBytes > 0 && clock.nanos() - heldSinceNanos >= maxNanos) {
            try {
                flush();
            } catch (IOException e) {
                throw broken(e);
            }
        }
    }

    /** The lines that the file had when it was opened; whoever reads the input adds those. */
    SeenKeys keys() {
        return keys;
    }

    private void flush() throws IOException {
        out.flush();
        heldBytes = 0;
    }

    /** Closes the channel at once, so that the buffer, which still has what was written in part, is not written again. */
    private BadInput broken(IOException e) {
        failed = true;
        try {
            channel.close();
        } catch (IOException again) {
            e.addSuppressed(again);
        }
        return failed(path, e);
    }

    /** Writes what is left, unless a write has failed, and closes the file. */
    @Override
    public void close() {
        try {
            out.close();
        } catch (IOException e) {
            if (!failed) {
                throw failed(path, e);
            }
        }
    }
}
