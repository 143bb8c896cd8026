package io.roseinfer.batch;

import io.roseinfer.base.Clock;
import io.roseinfer.base.FileFailure;
import io.roseinfer.base.RoseException.BadInput;
import io.roseinfer.base.RoseException.OutputFailed;
import io.roseinfer.base.StandardStream;
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
import java.util.Optional;
import java.util.Set;

/**
 * The file of a batch's responses. Lines are only appended, so a killed process leaves complete lines and at most part
 * of one. A {@code .zst} file is compressed in frames of complete lines. A killed process loses the lines of an
 * incomplete frame, so a frame ends every few seconds.
 */
public final class BatchOutput implements AutoCloseable {
    private static final int KEY_START = BatchModel.LINE_PREFIX.length();
    private static final int KEY_END = KEY_START + RequestKey.TEXT_CHARS;

    /** A line up to its key. */
    private static final String MIN_LINE = BatchModel.LINE_PREFIX + "0".repeat(RequestKey.TEXT_CHARS);

    private static final Path DESCRIPTORS = Path.of("/dev/fd");
    private static final int BUFFER_BYTES = 1 << 16;
    private static final int FRAME_BYTES = 1 << 22;
    private static final long FRAME_NANOS = 5_000_000_000L;

    private final Path path;
    private final SeenKeys keys;
    private final WritableByteChannel channel;
    private final OutputStream out;
    private final Clock clock;

    /** Lines are buffered up to this size, */
    private final int maxBytes;

    /** or until the first of them is this old. */
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
     * Creates a file. A pipe, a device or an open file descriptor is written to directly.
     *
     * @throws BadInput if the file exists, or cannot be written
     */
    public static BatchOutput create(Path path, Clock clock) {
        Optional<StandardStream> standard = StandardStream.named(path);
        boolean stream = path.startsWith(DESCRIPTORS) || (Files.exists(path) && !Files.isRegularFile(path));
        try {
            if (standard.isPresent()) {
                return new BatchOutput(path, Channels.newChannel(standard.get().open()), new SeenKeys(), clock);
            }
            FileChannel channel = open(
                    path,
                    stream
                            ? Set.of(StandardOpenOption.APPEND)
                            : Set.of(StandardOpenOption.CREATE_NEW, StandardOpenOption.APPEND));
            return new BatchOutput(path, channel, new SeenKeys(), clock);
        } catch (FileAlreadyExistsException e) {
            throw new BadInput(
                    "--output " + FileFailure.shown(path)
                            + " exists; continue it with --resume, choose another file, or remove it",
                    e);
        } catch (IOException e) {
            throw unusable(path, e);
        }
    }

    /**
     * Continues a file, or creates it. An incomplete line or frame at its end is truncated.
     *
     * @throws BadInput if it has text that is not a batch's, or another process is writing it
     */
    public static BatchOutput resume(Path path, Clock clock) {
        boolean standard = StandardStream.named(path).isPresent();
        if (standard || (Files.exists(path) && !Files.isRegularFile(path))) {
            throw new BadInput("--resume needs a regular file, and " + FileFailure.shown(path)
                    + " is not one; remove --resume, or choose another --output");
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
            throw unusable(path, e);
        }
    }

    /** Opens a file that no other batch process has open, as far as the file system knows. */
    private static FileChannel open(Path path, Set<? extends OpenOption> options) throws IOException {
        FileChannel channel = FileChannel.open(path, options);
        if (Files.isRegularFile(path) && !isLocked(channel)) {
            channel.close();
            throw new BadInput("--output " + FileFailure.shown(path)
                    + " is being written by another process; wait until it ends, or choose another file");
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

    private static BadInput unusable(Path path, IOException e) {
        Path parent = path.getParent();
        if (parent != null && Files.notExists(parent)) {
            return new BadInput(
                    "--output " + FileFailure.shown(path) + ": no such directory: " + FileFailure.shown(parent)
                            + "; create it first",
                    e);
        }
        return new BadInput("--output " + FileFailure.shown(path) + " cannot be written: " + FileFailure.reason(e), e);
    }

    private OutputFailed failure(IOException e) {
        return new OutputFailed(
                "--output " + FileFailure.shown(path) + " cannot be written: " + FileFailure.reason(e), e);
    }

    /**
     * Reads the keys of all complete lines, and returns the end of the last one. This channel is read, because closing
     * another one would release the lock.
     *
     * @throws BadInput if a line, or the incomplete line at the end, is not a batch's
     */
    private static long readKeys(Path path, FileChannel channel, SeenKeys keys) throws IOException {
        boolean compressed = ZstdText.isNamed(path);
        long completeBytes = compressed ? ZstdText.completeFrames(channel, path) : channel.size();
        long end = 0;
        long number = 0;
        try (LineReader lines = lines(channel, 0, completeBytes, compressed)) {
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
        try (LineReader lines = lines(channel, completeBytes, channel.size(), true)) {
            while (lines.next()) {
                RequestKey unused = key(path, lines, number + lines.number());
            }
        }
        return completeBytes;
    }

    private static LineReader lines(FileChannel channel, long from, long to, boolean compressed) throws IOException {
        InputStream file = new FirstBytes(Channels.newInputStream(channel.position(from)), to - from);
        return new LineReader(compressed ? ZstdText.expandedPiece(file) : file, KEY_END);
    }

    /** Returns the key of a line; if the line ends within its key, a key that it may have had. */
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
                + " was not written by roseinfer batch; choose a file that it wrote");
    }

    /**
     * Adds a line.
     *
     * @param line with its newline
     * @throws OutputFailed if it cannot be written; then nothing more is, since buffered lines may be in the file in part
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

    /** Flushes the buffered lines if they have waited long enough, since no line follows for the moment. */
    void rest() {
        if (heldBytes > 0 && clock.nanos() - heldSinceNanos >= maxNanos) {
            try {
                flush();
            } catch (IOException e) {
                throw broken(e);
            }
        }
    }

    /** Returns the lines that the file had when it was opened; the reader of the input adds those. */
    SeenKeys keys() {
        return keys;
    }

    private void flush() throws IOException {
        out.flush();
        heldBytes = 0;
    }

    /** Closes the channel at once, so that the partly written buffer is not written again. */
    private OutputFailed broken(IOException e) {
        failed = true;
        try {
            channel.close();
        } catch (IOException again) {
            e.addSuppressed(again);
        }
        return failure(e);
    }

    /** Writes the buffered lines, unless a write has failed, and closes the file. */
    @Override
    public void close() {
        try {
            out.close();
        } catch (IOException e) {
            if (!failed) {
                throw failure(e);
            }
        }
    }
}
