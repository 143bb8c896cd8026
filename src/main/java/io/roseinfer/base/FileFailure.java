package io.roseinfer.base;

import io.roseinfer.base.RoseException.BadModel;
import java.io.IOException;
import java.nio.file.AccessDeniedException;
import java.nio.file.FileSystemException;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;

/** A file system's refusal, in words. */
public final class FileFailure {
    private FileFailure() {}

    /** The failure to throw when a file cannot be read. */
    public static BadModel reading(Path file, IOException cause) {
        return new BadModel(shown(file) + ": cannot be read: " + reason(cause), cause);
    }

    /** The failure to throw when a file cannot be written. */
    public static BadModel writing(Path file, IOException cause) {
        return new BadModel(
                shown(file) + ": cannot be written: " + reason(cause) + "; check rights and free space", cause);
    }

    /** Refuses what is not a plain file before it is opened: opening a pipe would wait for ever. */
    public static void requireRegular(Path file) {
        if (Files.isDirectory(file)) {
            throw new BadModel(shown(file) + ": is a directory, a file was expected");
        }
        if (!Files.exists(file)) {
            String linked = Files.isSymbolicLink(file) ? "a link to a file that does not exist" : "no such file";
            throw new BadModel(shown(file) + ": " + linked);
        }
        if (!Files.isRegularFile(file)) {
            throw new BadModel(shown(file) + ": is not a regular file");
        }
    }

    /** A path with every odd character escaped. */
    public static String shown(Path file) {
        return Quoted.escape(file.toString());
    }

    /** Why the file system refused, without the path. */
    public static String reason(IOException cause) {
        if (cause instanceof NoSuchFileException) {
            return "no such file";
        }
        if (cause instanceof AccessDeniedException) {
            return "permission denied";
        }
        String text = cause instanceof FileSystemException problem ? problem.getReason() : cause.getMessage();
        return text == null ? cause.getClass().getSimpleName() : Quoted.escape(text);
    }
}
