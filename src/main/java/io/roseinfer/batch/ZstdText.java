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

/** Files compressed by Zstandard: a row of frames, each of which can be read without the others. */
final class ZstdText {
    private static final int BUFFER_BYTES = 1 << 17;

    private ZstdText() {}

    /**
     * Whether a file's name says that it is compressed.
     *
     * @throws BadInput if it says that it is compressed otherwise, or if the library is missing
     */
    static boolean isNamed(Path file) {
        String name = file.toString().toLowerCase(Locale.ROOT);
        if (name.endsWith(".gz")) {
            throw new BadInput(FileFailure.shown(file) + " ends in .gz; only .zst is read and written compressed");
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
                            + "); use files without .zst, or let Java unpack the library where programs may run, with"
                            + " -Djava.io.tmpdir=DIR in ROSEINFER_JAVA_OPTS",
                    e);
        }
    }

    /** Reads the text of all frames. */
    static InputStream expanded(InputStream file) throws IOException {
        return new ZstdInputStreamNoFinalizer(file);
    }

    /** Reads the text of all frames, and of the last one as much as there is of it. */
    static InputStream expandedPiece(InputStream file) throws IOException {
        return new ZstdInputStreamNoFinalizer(file).setContinuous(true);
    }

    /** Writes frames with checksums, and ends one at every flush. */
    static OutputStream compressed(OutputStream file) throws IOException {
        return new ZstdOutputStreamNoFinalizer(file).setCloseFrameOnFlush(true).setChecksum(true);
    }

    /**
     * Where the last whole frame of a file ends; behind it is at most the beginning of one, left by a process that was killed.
     *
     * @throws BadInput if a frame is damaged
     */
    static long wholeFrames(FileChannel file, Path path) throws IOException {
        ByteBuffer in = ByteBuffer.allocateDirect(BUFFER_BYTES).limit(0);
        ByteBuffer out = ByteBuffer.allocateDirect(BUFFER_BYTES);
        long read = 0;
        long whole = 0;
        try (ZstdDecompressCtx frames = new ZstdDecompressCtx()) {
            while (true) {
                if (!in.hasRemaining()) {
                    in.clear();
                    int bytes = file.read(in, read);
                    if (bytes <= 0) {
                        return whole;
                    }
                    read += bytes;
                    in.flip();
                }
                out.clear();
                if (frames.decompressDirectByteBufferStream(out, in)) {
                    whole = read - in.remaining();
                }
            }
        } catch (ZstdException damaged) {
            throw new BadInput(
                    FileFailure.shown(path) + " is damaged behind byte " + whole + " (" + damaged.getMessage()
                            + "); to go on from there, cut it off: truncate -s " + whole,
                    damaged);
        }
    }
}
