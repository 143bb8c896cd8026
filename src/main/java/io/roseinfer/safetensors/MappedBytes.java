package io.roseinfer.safetensors;

import io.roseinfer.base.Check;
import io.roseinfer.base.FileFailure;
import io.roseinfer.base.RoseException.BadModel;
import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.nio.channels.FileChannel;
import java.nio.channels.FileChannel.MapMode;
import java.nio.file.Path;

/**
 * Data in a file. Each tensor is mapped separately, so closing its arena unmaps its pages; a mapping of the whole file
 * would keep every page that was read.
 */
final class MappedBytes implements TensorBytes {
    private final Path file;
    private final FileChannel channel;
    private final long dataStart;
    private final long fileBytes;

    /** Takes ownership of {@code channel}. */
    MappedBytes(Path file, FileChannel channel, long dataStart, long fileBytes) {
        this.file = file;
        this.channel = channel;
        this.dataStart = dataStart;
        this.fileBytes = fileBytes;
    }

    @Override
    public MemorySegment slice(long begin, long bytes, Arena arena) {
        Check.that(channel.isOpen(), "a weight source was read after it was closed");
        try {
            // A mapping past the end succeeds, but reading it crashes, so check the size first.
            long now = channel.size();
            if (now != fileBytes) {
                throw new BadModel(FileFailure.shown(file) + ": changed while it was being read: " + fileBytes
                        + " bytes when opened, " + now + " now; do not modify the file, and try again");
            }
            if (bytes == 0) {
                return arena.allocate(0);
            }
            return channel.map(MapMode.READ_ONLY, dataStart + begin, bytes, arena);
        } catch (IOException e) {
            throw FileFailure.reading(file, e);
        }
    }

    @Override
    public void close() {
        try {
            channel.close();
        } catch (IOException e) {
            throw FileFailure.reading(file, e);
        }
    }
}
