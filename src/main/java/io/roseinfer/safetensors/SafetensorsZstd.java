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
 * Opens a zstd-compressed safetensors stream: decompressed once, front to back, straight into native memory. The header comes
 * first and says how much that is, so the frame need not.
 */
final class SafetensorsZstd {
    private static final int CHUNK_BYTES = 1 << 20;

    /** The window of {@code zstd --long=31}, the largest there is; only a frame that has it takes so much memory. */
    private static final int MAX_WINDOW_LOG = 31;

    private static final String HOLD_EXECUTABLES =
            "let java.io.tmpdir hold executables (ROSEINFER_JAVA_OPTS=-Djava.io.tmpdir=<folder>)";

    /** Data up to this size is believed whatever the file's size. */
    private static final long MODEST_BYTES = 64L << 20;

    /** Beyond it, weights do not compress a thousandfold: the header lies or the file is a decompression bomb. */
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

    /** Opens a stream that is trusted as to its size; the caller closes it. */
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
                                + ": decompressing needs up to 2 GiB of native memory for its window, which cannot be had;"
                                + " free some, or decompress the file with `zstd -d --long=31`",
                        e);
            }
            throw new BadModel(
                    shown + ": is corrupt, truncated or no zstd data: " + FileFailure.reason(e) + "; download it again",
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
                    + " bytes of data, more than a thousand times the file; the file is damaged or hostile");
        }
        return new SafetensorsSource(shown, header, data(header, Arena.ofShared()));
    }

    /** Decompresses the data into memory of an arena, which is closed unless it is handed on with all of it. */
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
                            + " bytes of native memory, which cannot be had; free some,"
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

    /** Bytes after the data, counted up to one chunk; reading them also lets the frame's checksum be verified. */
    private int trailing() throws IOException {
        return plain.readNBytes(CHUNK_BYTES).length;
    }

    /** Keeps the decompressor from closing what belongs to the caller. */
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
