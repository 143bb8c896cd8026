package io.roseinfer.batch;

import com.github.luben.zstd.ZstdDecompressCtx;
import com.github.luben.zstd.ZstdException;
import com.github.luben.zstd.ZstdInputStreamNoFinalizer;
import com.github.luben.zstd.ZstdOutputStreamNoFinalizer;
import com.github.luben.zstd.util.Native;
import io.roseinfer.base.FileFailure;
import io.roseinfer.base.RoseException.BadInput;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.file.Path;
import java.util.Locale;

/** Files compressed by Zstandard: a sequence of frames that can be decompressed independently. */
final class ZstdText {
    private static final int BUFFER_BYTES = 1 << 17;

    private ZstdText() {}

    /**
     * Returns whether a file's name implies compression.
     *
     * @throws BadInput if it implies another compression, or if the library is missing
     */
    static boolean isNamed(Path file) {
        String name = file.toString().toLowerCase(Locale.ROOT);
        if (name.endsWith(".gz")) {
            throw new BadInput(FileFailure.shown(file) + " ends in .gz; the only supported compression is .zst");
        }
        if (!name.endsWith(".zst")) {
            return false;
        }
        try {
            Native.load();
            return true;
        } catch (LinkageError e) {
            throw new BadInput(
                    "zstd's native library cannot be loaded (" + e
                            + "); use files without .zst, or let Java extract the library to a folder that allows executables, with"
                            + " -Djava.io.tmpdir=DIR in ROSEINFER_JAVA_OPTS",
                    e);
        }
    }

    /** Decompresses all frames. */
    static InputStream expanded(InputStream file) throws IOException {
        return new ZstdInputStreamNoFinalizer(file);
    }

    /** Decompresses all frames, including an incomplete last one. */
    static InputStream expandedPiece(InputStream file) throws IOException {
        return new ZstdInputStreamNoFinalizer(file).setContinuous(true);
    }

    /** Writes frames with checksums, and ends one at every flush. */
    static OutputStream compressed(OutputStream file) throws IOException {
        return new ZstdOutputStreamNoFinalizer(file).setCloseFrameOnFlush(true).setChecksum(true);
    }

    /**
     * Returns the end of the last complete frame of a file. At most one incomplete frame follows, left by a process
     * that was killed.
     *
     * @throws BadInput if a frame is damaged
     */
    static long completeFrames(FileChannel file, Path path) throws IOException {
        ByteBuffer in = ByteBuffer.allocateDirect(BUFFER_BYTES).limit(0);
        ByteBuffer out = ByteBuffer.allocateDirect(BUFFER_BYTES);
        long read = 0;
        long completeBytes = 0;
        try (ZstdDecompressCtx frames = new ZstdDecompressCtx()) {
            while (true) {
                if (!in.hasRemaining()) {
                    in.clear();
                    int bytes = file.read(in, read);
                    if (bytes <= 0) {
                        return completeBytes;
                    }
                    read += bytes;
                    in.flip();
                }
                out.clear();
                if (frames.decompressDirectByteBufferStream(out, in)) {
                    completeBytes = read - in.remaining();
                }
            }
        } catch (ZstdException damaged) {
            throw new BadInput(
                    FileFailure.shown(path) + " is damaged after byte " + completeBytes + " (" + damaged.getMessage()
                            + "); to continue from there, run truncate -s " + completeBytes,
                    damaged);
        }
    }
}
