package io.roseinfer.spark;

import java.io.BufferedOutputStream;
import java.io.IOException;
import java.io.OutputStream;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.fs.FileSystem;
import org.apache.hadoop.fs.Path;

/**
 * The responses of one partition, published atomically. Each attempt writes its own hidden file, and renames it to the
 * partition's name when it is complete. So a killed attempt has no effect, only one of two finished attempts is used,
 * and a killed driver leaves complete partitions.
 */
final class PartFile implements AutoCloseable {
    /** Prefix of hidden files: Spark and Hadoop ignore files whose name begins with an underscore. */
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
     * Begins an attempt at a partition's file.
     *
     * @param run unique among runs
     * @param taskAttempt unique among the attempts of the run
     */
    static PartFile create(Path folder, String run, int partition, long taskAttempt, Configuration conf)
            throws IOException {
        String name = String.format("part-%s-%05d.jsonl", run, partition);
        return new PartFile(
                folder.getFileSystem(conf),
                new Path(folder, HIDDEN + taskAttempt + "-" + name),
                new Path(folder, name));
    }

    /** Deletes the files of killed attempts. */
    static void clean(FileSystem files, Path folder) throws IOException {
        for (var left : files.globStatus(new Path(folder, HIDDEN + "*"))) {
            boolean unused = files.delete(left.getPath(), false);
        }
    }

    void write(byte[] line) throws IOException {
        out.write(line);
    }

    /** Renames the attempt to the partition's file, unless another attempt has already done so. */
    void commit() throws IOException {
        out.close();
        closed = true;
        if (!files.exists(part) && !files.rename(attempt, part) && !files.exists(part)) {
            throw new IOException(attempt + " could not be renamed to " + part);
        }
    }

    /** Deletes the attempt unless it was committed. */
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
