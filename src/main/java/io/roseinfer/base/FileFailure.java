package io.roseinfer.base;

import io.roseinfer.base.RoseException.BadModel;
import java.io.IOException;
import java.nio.file.AccessDeniedException;
import java.nio.file.FileSystemException;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;

/** Exceptions and messages for failed file operations. */
public final class FileFailure {
    private FileFailure() {}

    /** Returns the exception to throw if a file cannot be read. */
    public static BadModel reading(Path file, IOException cause) {
        return new BadModel(shown(file) + ": cannot be read: " + reason(cause), cause);
    }

    /** Returns the exception to throw if a file cannot be written. */
    public static BadModel writing(Path file, IOException cause) {
        return new BadModel(
                shown(file) + ": cannot be written: " + reason(cause) + "; check permissions and free space", cause);
    }

    /** Throws unless the path is a regular file. Call it before opening: opening a pipe would block forever. */
    public static void requireRegular(Path file) {
        if (Files.isDirectory(file)) {
            throw new BadModel(shown(file) + ": is a directory, not a file");
        }
        if (!Files.exists(file)) {
            String linked = Files.isSymbolicLink(file) ? "a link to a file that does not exist" : "no such file";
            throw new BadModel(shown(file) + ": " + linked);
        }
        if (!Files.isRegularFile(file)) {
            throw new BadModel(shown(file) + ": is not a regular file");
        }
    }

    /** Returns the path with unprintable characters escaped, truncated to 500 characters. */
    public static String shown(Path file) {
        return Quoted.path(file.toString());
    }

    /** Returns the cause in words, without the path. */
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
