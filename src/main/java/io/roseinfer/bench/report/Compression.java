package io.roseinfer.bench.report;

import com.github.luben.zstd.ZstdInputStream;
import com.github.luben.zstd.ZstdOutputStream;
import com.github.luben.zstd.util.Native;
import io.roseinfer.base.RoseException.BadInput;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.nio.file.Path;
import java.util.Locale;
import java.util.Optional;
import java.util.zip.GZIPInputStream;
import java.util.zip.GZIPOutputStream;

/** The compression of a file, by the suffix of its name. */
enum Compression {
    NONE,
    GZIP,
    ZSTD;

    private static final int BUFFER_BYTES = 1 << 16;

    /** Returns the compression of a name; empty if it has a suffix other than {@code .json}, {@code .gz} and {@code .zst}. */
    static Optional<Compression> of(Path path) {
        Path name = path.getFileName();
        String text = name == null ? "" : name.toString().toLowerCase(Locale.ROOT);
        int dot = text.lastIndexOf('.');
        return switch (dot <= 0 ? "" : text.substring(dot)) {
            case "", ".json" -> Optional.of(NONE);
            case ".gz" -> Optional.of(GZIP);
            case ".zst" -> Optional.of(ZSTD);
            default -> Optional.empty();
        };
    }

    /**
     * Loads the native library of {@link #ZSTD}, so that a missing library is detected before a long run.
     *
     * @throws BadInput if it cannot be loaded
     */
    void require() {
        if (this == ZSTD) {
            try {
                Native.load();
            } catch (LinkageError e) {
                throw new BadInput(
                        "zstd's native library cannot be loaded (" + e
                                + "); use a suffix of .gz or .json, or set"
                                + " -Djava.io.tmpdir=DIR in ROSEINFER_JAVA_OPTS to a directory where libraries can be loaded",
                        e);
            }
        }
    }

    OutputStream compressed(OutputStream file) throws IOException {
        return switch (this) {
            case NONE -> file;
            case GZIP -> new GZIPOutputStream(file, BUFFER_BYTES);
            case ZSTD -> new ZstdOutputStream(file);
        };
    }

    InputStream expanded(InputStream file) throws IOException {
        return switch (this) {
            case NONE -> file;
            case GZIP -> new GZIPInputStream(file, BUFFER_BYTES);
            case ZSTD -> new ZstdInputStream(file);
        };
    }
}
