package io.roseinfer.batch;

import io.roseinfer.base.FileFailure;
import io.roseinfer.base.RoseException.BadInput;
import io.roseinfer.server.api.ApiError;
import io.roseinfer.server.http.HttpLimits;
import java.io.IOException;
import java.io.InputStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Optional;

/** The file of a batch's requests, read line by line; a {@code .zst} file is decompressed. */
public final class BatchInput implements AutoCloseable {
    private final Path path;
    private final InputStream file;
    private final FirstBytes bytes;
    private final LineReader lines;
    private final int maxBytes;

    private BatchInput(Path path, InputStream file, int maxBytes) throws IOException {
        this.path = path;
        this.file = file;
        this.maxBytes = maxBytes;
        this.bytes = new FirstBytes(file, Long.MAX_VALUE);
        this.lines = new LineReader(ZstdText.isNamed(path) ? ZstdText.expanded(bytes) : bytes, maxBytes);
    }

    /**
     * Opens a file. A line may be as long as the body of a request to the server.
     *
     * @throws BadInput if it cannot be read
     */
    public static BatchInput open(Path path) {
        return open(path, maxLineBytes());
    }

    private static int maxLineBytes() {
        return HttpLimits.defaults().bodyBytes();
    }

    static BatchInput open(Path path, int maxBytes) {
        if (Files.isDirectory(path)) {
            throw new BadInput("--input " + FileFailure.shown(path) + " is a directory; it must be a file");
        }
        try {
            return new BatchInput(path, Files.newInputStream(path), maxBytes);
        } catch (IOException e) {
            throw failed(path, e);
        }
    }

    private static BadInput failed(Path path, IOException e) {
        return new BadInput("--input " + FileFailure.shown(path) + " cannot be read: " + FileFailure.reason(e), e);
    }

    /**
     * Moves to the next line that is not blank, and returns whether there is one.
     *
     * @throws BadInput if the file cannot be read
     */
    boolean next() {
        try {
            while (lines.next()) {
                if (!isBlank(lines.line())) {
                    return true;
                }
            }
            return false;
        } catch (IOException e) {
            throw failed(path, e);
        }
    }

    /** Returns whether a line is skipped because it has only spaces, tabs and a carriage return. */
    public static boolean isBlank(byte[] line) {
        for (byte one : line) {
            if (one != ' ' && one != '\t' && one != '\r') {
                return false;
            }
        }
        return true;
    }

    /** Returns the line. */
    BatchLine line() {
        return lines.isTooLong() ? tooLong(lines.number(), maxBytes) : BatchLine.parse(lines.line(), lines.number());
    }

    /**
     * Returns a line of a file that the caller splits, as a file opened by {@link #open(Path)} would.
     *
     * @param line without the newline
     * @param number of the line in the file, from 1
     */
    public static BatchLine line(byte[] line, long number) {
        int max = maxLineBytes();
        return line.length > max ? tooLong(number, max) : BatchLine.parse(line, number);
    }

    private static BatchLine tooLong(long number, int maxBytes) {
        return new BatchLine.Bad(
                RequestKey.ofLine(number),
                number,
                Optional.empty(),
                ApiError.of(413, "BadRequestError", "the line is longer than the maximum of " + maxBytes + " bytes"));
    }

    /** Returns the key of the line if it has no custom id. */
    RequestKey lineKey() {
        return RequestKey.ofLine(lines.number());
    }

    long lineNumber() {
        return lines.number();
    }

    /** Returns the bytes of the file read so far, before decompression. May be called by any thread. */
    public long bytesRead() {
        return bytes.count();
    }

    @Override
    public void close() {
        try {
            lines.close();
            file.close();
        } catch (IOException e) {
            throw failed(path, e);
        }
    }
}
