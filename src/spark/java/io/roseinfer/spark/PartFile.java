package io.roseinfer.spark;

import java.io.BufferedOutputStream;
import java.io.IOException;
import java.io.OutputStream;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.fs.FileSystem;
import org.apache.hadoop.fs.Path;

/**
 * The answers of one partition, seen by nobody until they are all there. An attempt writes to a file of its own and renames it at its end to
 * the one of the partition, so attempts that are killed leave nothing that counts, and of two that finish one counts. The job commits
 * nothing: what a driver that was killed leaves is whole partitions.
 */
final class PartFile implements AutoCloseable {
    /** What names begin with that no reader of folders takes for data. */
    private static final String HIDDEN = "_attempt-";

    private final FileSystem files;
    private final Path attempt;
    private final Path part;
    private final OutputStream out;
    private boolean closed;

    private PartFile(FileSystem files, Path attempt, Path part) throws IOException {
        this.files = files;
        this.attempt = attempt;
        this.part = part;
        this.out = new BufferedOutputStream(files.create(attempt, true), 1 << 16);
    }

    /**
     * Begins a partition's file.
     *
     * @param run a name that no other run has
     * @param taskAttempt a number that no other attempt of the run has
     */
    static PartFile create(Path folder, String run, int partition, long taskAttempt, Configuration conf)
            throws IOException {
        String name = String.format("part-%s-%05d.jsonl", run, partition);
        return new PartFile(
                folder.getFileSystem(conf),
                new Path(folder, HIDDEN + taskAttempt + "-" + name),
                new Path(folder, name));
    }

    /** Removes what attempts have left that were killed. */
    static void clean(FileSystem files, Path folder) throws IOException {
        for (var left : files.globStatus(new Path(folder, HIDDEN + "*"))) {
            boolean unused = files.delete(left.getPath(), false);
        }
    }

    void write(byte[] line) throws IOException {
        out.write(line);
    }

    /** Makes it the partition's file, unless another attempt was sooner. */
    void commit() throws IOException {
        out.close();
        closed = true;
        if (!files.exists(part) && !files.rename(attempt, part) && !files.exists(part)) {
            throw new IOException(attempt + " could not be renamed to " + part);
        }
    }

    /** Removes what was not committed. */
    @Override
    public void close() throws IOException {
        if (!closed) {
            closed = true;
            out.close();
        }
        if (files.exists(attempt)) {
            boolean unused = files.delete(attempt, false);
        }
    }
}
