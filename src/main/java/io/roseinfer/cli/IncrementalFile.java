package io.roseinfer.cli;

import io.roseinfer.bench.report.ResultFile;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.function.BiConsumer;

/**
 * A benchmark's file of completed parts, such as runs. It is rewritten after every part, so a later failure loses none of them. A pipe is
 * written once at the end, as its reader could not separate documents.
 */
final class IncrementalFile<T> implements AutoCloseable {
    private final Optional<ResultFile> file;
    private final BiConsumer<ResultFile, List<T>> writer;
    private final List<T> parts = new ArrayList<>();

    /**
     * @param file the file; if empty, nothing is written
     * @param writer writes a document with all parts so far
     */
    IncrementalFile(Optional<ResultFile> file, BiConsumer<ResultFile, List<T>> writer) {
        this.file = file;
        this.writer = writer;
    }

    /** Adds a part and rewrites the file. */
    void add(T part) {
        parts.add(part);
        write(false);
    }

    /** Returns all parts so far. */
    List<T> parts() {
        return List.copyOf(parts);
    }

    /** Writes a pipe, if there is any part. */
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
