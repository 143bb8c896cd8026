package io.roseinfer.bench;

import com.github.luben.zstd.ZstdOutputStream;
import io.roseinfer.base.RoseException.BadInput;
import io.roseinfer.base.StrictJson;
import java.io.IOException;
import java.io.OutputStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.function.Consumer;
import tools.jackson.core.JacksonException;
import tools.jackson.core.JsonGenerator;
import tools.jackson.core.StreamWriteFeature;
import tools.jackson.databind.JsonNode;

/** A file that a flag such as {@code --json} writes; a name that ends in {@code .zst} is compressed. */
public final class ResultFile {
    private final String flag;
    private final Path path;

    private ResultFile(String flag, Path path) {
        this.flag = flag;
        this.path = path;
    }

    /**
     * Checks before a long run what would only fail after it.
     *
     * @param flag the flag that named it, for messages
     * @throws BadInput if the file cannot be written there
     */
    public static ResultFile at(String flag, Path path) {
        Path folder = path.toAbsolutePath().getParent();
        if (Files.isDirectory(path)) {
            throw new BadInput(flag + " " + path + " is a directory; name a file in it");
        }
        if (folder == null || !Files.isDirectory(folder)) {
            throw new BadInput(flag + " " + path + ": there is no directory " + folder + "; create it first");
        }
        if (!Files.isWritable(Files.exists(path) ? path : folder)) {
            throw new BadInput(flag + " " + path + " cannot be written; choose a place with write permission");
        }
        return new ResultFile(flag, path);
    }

    /** Writes one document and a final newline. */
    public void write(JsonNode document) {
        write(generator -> generator.writeTree(document));
    }

    /** Writes one document, too large to be held in memory, piece by piece, and a final newline. */
    public void write(Consumer<JsonGenerator> document) {
        try (OutputStream out = open()) {
            try (JsonGenerator generator = StrictJson.mapper()
                    .writer()
                    .without(StreamWriteFeature.AUTO_CLOSE_TARGET)
                    .createGenerator(out)) {
                document.accept(generator);
            }
            out.write('\n');
        } catch (IOException | JacksonException failure) {
            throw new BadInput(flag + " " + path + " could not be written: " + failure.getMessage(), failure);
        }
    }

    private OutputStream open() throws IOException {
        OutputStream file = Files.newOutputStream(path);
        return path.toString().endsWith(".zst") ? new ZstdOutputStream(file) : file;
    }
}
