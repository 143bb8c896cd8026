package io.roseinfer.cli;

import io.roseinfer.bench.report.ResultFile;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.function.BiConsumer;

/**
 * The file of a benchmark that holds the parts which are over, such as runs, and is written anew with every one: a part that fails
 * takes none with it. A pipe gets its one document when all is over, as a reader cannot tell a second one from the rest of the first.
 */
final class GrowingFile<T> implements AutoCloseable {
    private final Optional<ResultFile> file;
    private final BiConsumer<ResultFile, List<T>> writer;
    private final List<T> parts = new ArrayList<>();

    /**
     * @param file nothing is written without one
     * @param writer writes a document of all parts so far
     */
    GrowingFile(Optional<ResultFile> file, BiConsumer<ResultFile, List<T>> writer) {
        this.file = file;
        this.writer = writer;
    }

    /** Writes the file with another part. */
    void add(T part) {
        parts.add(part);
        write(false);
    }

    /** All parts so far. */
    List<T> parts() {
        return List.copyOf(parts);
    }

    /** Writes the pipe, if there is a part to tell of. */
    @Override
    public void close() {
        if (!parts.isEmpty()) {
            write(true);
        }
    }

    private void write(boolean stream) {
        file.filter(result -> result.isStream() == stream).ifPresent(result -> writer.accept(result, parts));
    }
}
