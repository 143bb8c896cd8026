package io.roseinfer.bench;

import com.github.luben.zstd.ZstdOutputStream;
import io.roseinfer.base.RoseException.BadInput;
import io.roseinfer.base.StrictJson;
import java.io.IOException;
import java.io.OutputStream;
import java.nio.file.Files;
import java.nio.file.Path;
import tools.jackson.core.JacksonException;
import tools.jackson.core.StreamWriteFeature;
import tools.jackson.databind.JsonNode;

/** Where {@code --json} writes; a name that ends in {@code .zst} is compressed. */
public final class ResultFile {
    private final Path path;

    private ResultFile(Path path) {
        this.path = path;
    }

    /**
     * Checks before a long run what would only fail after it.
     *
     * @throws BadInput if the file cannot be written there
     */
    public static ResultFile at(Path path) {
        Path folder = path.toAbsolutePath().getParent();
        if (Files.isDirectory(path)) {
            throw new BadInput("--json " + path + " is a directory; name a file in it");
        }
        if (folder == null || !Files.isDirectory(folder)) {
            throw new BadInput("--json " + path + ": there is no directory " + folder + "; create it first");
        }
        if (!Files.isWritable(Files.exists(path) ? path : folder)) {
            throw new BadInput("--json " + path + " cannot be written; choose a place with write permission");
        }
        return new ResultFile(path);
    }

    /** Writes one document and a final newline. */
    public void write(JsonNode document) {
        try (OutputStream out = open()) {
            StrictJson.mapper()
                    .writer()
                    .without(StreamWriteFeature.AUTO_CLOSE_TARGET)
                    .writeValue(out, document);
            out.write('\n');
        } catch (IOException | JacksonException failure) {
            throw new BadInput("--json " + path + " could not be written: " + failure.getMessage(), failure);
        }
    }

    private OutputStream open() throws IOException {
        OutputStream file = Files.newOutputStream(path);
        return path.toString().endsWith(".zst") ? new ZstdOutputStream(file) : file;
    }
}
