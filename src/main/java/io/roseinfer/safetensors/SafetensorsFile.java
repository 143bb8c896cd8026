package io.roseinfer.safetensors;

import io.roseinfer.base.FileFailure;
import io.roseinfer.base.RoseException.BadModel;
import io.roseinfer.checkpoint.Checkpoint;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;

/** Opens an uncompressed safetensors file. */
final class SafetensorsFile {
    private final Path path;
    private final String shown;
    private final FileChannel channel;
    private final long fileBytes;

    private SafetensorsFile(Path path, FileChannel channel) throws IOException {
        this.path = path;
        this.shown = FileFailure.shown(path);
        this.channel = channel;
        this.fileBytes = channel.size();
    }

    /**
     * Opens a file: checks header and file size, and reads no tensor.
     *
     * @throws BadModel if the file violates the format or cannot be read
     */
    static Checkpoint open(Path path) {
        FileFailure.requireRegular(path);
        try {
            FileChannel channel = FileChannel.open(path, StandardOpenOption.READ);
            try {
                return new SafetensorsFile(path, channel).source();
            } catch (IOException | RuntimeException e) {
                channel.close();
                throw e;
            }
        } catch (IOException e) {
            throw FileFailure.reading(path, e);
        }
    }

    private Checkpoint source() throws IOException {
        byte[] start = read(0, (int) Math.min(fileBytes, ForeignFormat.PREFIX_BYTES));
        try {
            SafetensorsHeader header = header();
            MappedBytes data = new MappedBytes(path, channel, header.dataStart(), fileBytes);
            return new SafetensorsSource(shown, header, data);
        } catch (BadModel refusal) {
            // Checked only now, because the first bytes of a valid file may look like another format.
            throw ForeignFormat.of(start)
                    .map(kind -> new BadModel(shown + ": is " + kind.description(), refusal))
                    .orElse(refusal);
        }
    }

    private SafetensorsHeader header() throws IOException {
        if (fileBytes < SafetensorsHeader.PREFIX_BYTES) {
            throw SafetensorsHeader.tooSmall(shown, fileBytes);
        }
        int length = SafetensorsHeader.length(shown, read(0, SafetensorsHeader.PREFIX_BYTES));
        long rest = fileBytes - SafetensorsHeader.PREFIX_BYTES;
        if (length > rest) {
            throw new BadModel(shown + ": truncated: header length " + length + " exceeds the file, which has " + rest
                    + " bytes after it; download it again");
        }
        SafetensorsHeader header = SafetensorsHeader.parse(shown, read(SafetensorsHeader.PREFIX_BYTES, length));
        header.requireDataBytes(shown, rest - length);
        return header;
    }

    private byte[] read(long position, int bytes) throws IOException {
        ByteBuffer buffer = ByteBuffer.allocate(bytes);
        while (buffer.hasRemaining()) {
            if (channel.read(buffer, position + buffer.position()) < 0) {
                throw new IOException("the file became shorter while it was being read");
            }
        }
        return buffer.array();
    }
}
