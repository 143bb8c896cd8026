package io.roseinfer.safetensors;

import com.github.luben.zstd.Zstd;
import com.github.luben.zstd.ZstdIOException;
import com.github.luben.zstd.ZstdInputStreamNoFinalizer;
import io.roseinfer.base.FileFailure;
import io.roseinfer.base.Quoted;
import io.roseinfer.base.RoseException.BadModel;
import io.roseinfer.base.RoseException.InsufficientMemory;
import io.roseinfer.checkpoint.Checkpoint;
import java.io.FilterInputStream;
import java.io.IOException;
import java.io.InputStream;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.file.Files;
import java.nio.file.Path;

/**
 * Opens a zstd-compressed safetensors stream, which is decompressed once, front to back, into native memory. The header
 * states the size, so the zstd frame need not.
 */
final class SafetensorsZstd {
    private static final int CHUNK_BYTES = 1 << 20;

    /** The window of {@code zstd --long=31}, the maximum; only a frame that uses it takes that much memory. */
    private static final int MAX_WINDOW_LOG = 31;

    private static final String HOLD_EXECUTABLES =
            "set java.io.tmpdir to a folder that allows executables (ROSEINFER_JAVA_OPTS=-Djava.io.tmpdir=<folder>)";

    /** Data up to this size is accepted regardless of the file's size. */
    private static final long MODEST_BYTES = 64L << 20;

    /**
     * Maximum compression ratio of larger data: weights do not compress a thousandfold, so the header is wrong or the
     * file is a decompression bomb.
     */
    private static final long RATIO = 1000;

    private final String shown;
    private final InputStream plain;

    SafetensorsZstd(String shown, InputStream plain) {
        this.shown = shown;
        this.plain = plain;
    }

    /** Opens a {@code .safetensors.zst} file. */
    static Checkpoint open(Path path) {
        FileFailure.requireRegular(path);
        try (InputStream compressed = Files.newInputStream(path)) {
            long believed = Math.max(MODEST_BYTES, RATIO * Math.min(Files.size(path), Long.MAX_VALUE / RATIO));
            return open(
                    FileFailure.shown(path),
                    compressed,
                    believed,
                    "decompress the file with `zstd -d`, or " + HOLD_EXECUTABLES);
        } catch (IOException e) {
            throw FileFailure.reading(path, e);
        }
    }

    /** Opens a stream of trusted size; the caller closes it. */
    static Checkpoint open(String description, InputStream compressed) {
        return open(description, compressed, Long.MAX_VALUE, HOLD_EXECUTABLES);
    }

    private static Checkpoint open(String shown, InputStream compressed, long believedBytes, String withoutLibrary) {
        try (ZstdInputStreamNoFinalizer plain = new ZstdInputStreamNoFinalizer(new Unclosed(compressed))) {
            plain.setLongMax(MAX_WINDOW_LOG);
            return new SafetensorsZstd(shown, plain).source(believedBytes);
        } catch (ZstdIOException e) {
            if (e.getErrorCode() == Zstd.errMemoryAllocation()) {
                throw new InsufficientMemory(
                        shown
                                + ": decompressing needs up to 2 GiB of native memory for its window, which is not available;"
                                + " free some, or decompress the file with `zstd -d --long=31`",
                        e);
            }
            throw new BadModel(
                    shown + ": is corrupt, truncated or not zstd data: " + FileFailure.reason(e)
                            + "; download it again",
                    e);
        } catch (IOException e) {
            throw new BadModel(shown + ": cannot be read: " + FileFailure.reason(e), e);
        } catch (LinkageError e) {
            throw withoutLibrary(shown, e, withoutLibrary);
        }
    }

    private static BadModel withoutLibrary(String shown, LinkageError error, String help) {
        Throwable cause = error;
        while (cause.getCause() != null) {
            cause = cause.getCause();
        }
        boolean denied = cause instanceof IllegalCallerException;
        return new BadModel(
                shown + ": the zstd library cannot be loaded: " + Quoted.escape(String.valueOf(cause.getMessage()))
                        + "; " + (denied ? "start Java with --enable-native-access=ALL-UNNAMED" : help),
                error);
    }

    private Checkpoint source(long believedBytes) throws IOException {
        byte[] prefix = plain.readNBytes(SafetensorsHeader.PREFIX_BYTES);
        if (prefix.length < SafetensorsHeader.PREFIX_BYTES) {
            throw SafetensorsHeader.tooSmall(shown, prefix.length);
        }
        int length = SafetensorsHeader.length(shown, prefix);
        byte[] json = plain.readNBytes(length);
        if (json.length < length) {
            throw new BadModel(shown + ": truncated: header length " + length + " exceeds the " + json.length
                    + " bytes after it; download it again");
        }
        SafetensorsHeader header = SafetensorsHeader.parse(shown, json);
        if (header.dataBytes() > believedBytes) {
            throw new BadModel(shown + ": the header describes " + header.dataBytes()
                    + " bytes of data, more than a thousand times the file's size; the file is damaged or malicious");
        }
        return new SafetensorsSource(shown, header, data(header, Arena.ofShared()));
    }

    /** Decompresses the data into an arena, which is closed if that fails. */
    SharedBytes data(SafetensorsHeader header, Arena owner) throws IOException {
        try {
            MemorySegment data = allocate(owner, header.dataBytes());
            long filled = fill(data);
            header.requireDataBytes(shown, filled < data.byteSize() ? filled : filled + trailing());
            return new SharedBytes(owner, data);
        } catch (IOException | RuntimeException | Error e) {
            owner.close();
            throw e;
        }
    }

    private MemorySegment allocate(Arena owner, long bytes) {
        try {
            return owner.allocate(bytes, Long.BYTES);
        } catch (OutOfMemoryError e) {
            throw new InsufficientMemory(
                    shown + ": decompressing needs " + bytes
                            + " bytes of native memory, which is not available; free some,"
                            + " or decompress the file with `zstd -d` so that it can be mapped",
                    e);
        }
    }

    private long fill(MemorySegment data) throws IOException {
        byte[] chunk = new byte[CHUNK_BYTES];
        long filled = 0;
        while (filled < data.byteSize()) {
            int read = plain.read(chunk, 0, (int) Math.min(chunk.length, data.byteSize() - filled));
            if (read < 0) {
                break;
            }
            MemorySegment.copy(chunk, 0, data, ValueLayout.JAVA_BYTE, filled, read);
            filled += read;
        }
        return filled;
    }

    /** Returns the number of bytes after the data, up to one chunk; reading them also verifies the frame's checksum. */
    private int trailing() throws IOException {
        return plain.readNBytes(CHUNK_BYTES).length;
    }

    /** A stream whose {@code close} leaves the caller's stream open. */
    private static final class Unclosed extends FilterInputStream {
        Unclosed(InputStream in) {
            super(in);
        }

        @Override
        public int read(byte[] target, int offset, int length) throws IOException {
            return in.read(target, offset, length);
        }

        @Override
        public void close() {}
    }
}
