package io.roseinfer.bench.report;

import io.roseinfer.base.FileFailure;
import io.roseinfer.base.RoseException.BadInput;
import io.roseinfer.base.RoseException.OutputFailed;
import io.roseinfer.base.StandardStream;
import io.roseinfer.base.StrictJson;
import java.io.BufferedOutputStream;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.nio.file.attribute.PosixFileAttributeView;
import java.nio.file.attribute.PosixFileAttributes;
import java.util.Optional;
import java.util.UUID;
import java.util.function.Consumer;
import tools.jackson.core.JacksonException;
import tools.jackson.core.JsonGenerator;
import tools.jackson.core.StreamWriteFeature;
import tools.jackson.databind.JsonNode;

/**
 * A file named by a flag such as {@code --json}, compressed if its name ends in {@code .gz} or {@code .zst}.
 *
 * <p>Content is written to a temporary file in the same directory, which then replaces the target with the same owner and permissions.
 * Readers thus see a complete old or new document, and a failure keeps the old one. Pipes, devices, files in a directory without write
 * permission and files whose owner cannot be kept are written in place.
 */
public final class ResultFile {
    private static final Path DEVICES = Path.of("/dev");

    private final String flag;
    private final Path path;
    private final Path target;
    private final Compression compression;

    private ResultFile(String flag, Path path, Path target, Compression compression) {
        this.flag = flag;
        this.path = path;
        this.target = target;
        this.compression = compression;
    }

    /**
     * Returns a result file, after checking before a long run that it can be written.
     *
     * @param flag the flag that names it, for messages
     * @throws BadInput if the file cannot be written, or its name has an unknown suffix
     */
    public static ResultFile at(String flag, Path path) {
        Compression compression = Compression.of(path)
                .orElseThrow(() -> new BadInput(flag + " " + path
                        + " has an unknown suffix; use .json, .gz or .zst (both compressed), or none"));
        compression.require();
        return at(flag, path, compression);
    }

    /** Returns a plain text file with any suffix, checked in the same way. */
    public static ResultFile ofText(String flag, Path path) {
        return at(flag, path, Compression.NONE);
    }

    private static ResultFile at(String flag, Path path, Compression compression) {
        if (path.toString().equals("-")) {
            throw new BadInput(flag + " - would be a file of that name; use /dev/stdout for standard output");
        }
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
        try {
            return new ResultFile(flag, path, target(path, folder), compression);
        } catch (IOException e) {
            throw new BadInput(flag + " " + path + " cannot be written: " + FileFailure.reason(e), e);
        }
    }

    /**
     * Resolves symbolic links; a device such as {@code /dev/stdout} is returned unchanged.
     *
     * @throws IOException if the name is not possible, such as a name that is too long
     */
    private static Path target(Path path, Path folder) throws IOException {
        try {
            Files.getLastModifiedTime(path);
        } catch (NoSuchFileException nothingThereYet) {
            // The name is possible.
        }
        boolean device = Files.exists(path) && !Files.isRegularFile(path);
        if (device || folder.startsWith(DEVICES) || StandardStream.named(path).isPresent()) {
            return path;
        }
        return Files.exists(path) ? path.toRealPath() : folder.toRealPath().resolve(path.getFileName());
    }

    /**
     * Reads a result file.
     *
     * @throws BadInput if the file is not a JSON document
     */
    public static JsonNode read(Path file) {
        FileFailure.requireRegular(file);
        Compression compression = Compression.of(file).orElse(Compression.NONE);
        compression.require();
        try (InputStream in = compression.expanded(Files.newInputStream(file))) {
            return StrictJson.parse(in.readAllBytes());
        } catch (IOException e) {
            throw new BadInput(FileFailure.shown(file) + " cannot be read: " + FileFailure.reason(e), e);
        } catch (JacksonException e) {
            throw new BadInput(FileFailure.shown(file) + " is not a JSON document: " + StrictJson.reason(e), e);
        }
    }

    /** Returns the current document of the file; empty if there is none. */
    public Optional<JsonNode> existing() {
        return !isStream() && Files.isRegularFile(target) ? Optional.of(read(target)) : Optional.empty();
    }

    /** Returns the flag that names the file. */
    public String flag() {
        return flag;
    }

    /** Returns the name of the file for messages. */
    public String shown() {
        return FileFailure.shown(path);
    }

    /** Returns whether documents are appended, as in a pipe, instead of replacing each other. */
    public boolean isStream() {
        return StandardStream.named(target).isPresent() || (Files.exists(target) && !Files.isRegularFile(target));
    }

    /** Returns whether both are the same file, possibly by different names or links. */
    public boolean isSameAs(ResultFile other) {
        try {
            return target.equals(other.target)
                    || (Files.exists(target) && Files.exists(other.target) && Files.isSameFile(target, other.target));
        } catch (IOException e) {
            throw new BadInput(flag + " " + path + " cannot be compared with " + other.path + ": " + e, e);
        }
    }

    /** Writes results as one document and a final newline. */
    public void write(BenchResult result) {
        write(generator -> ResultJson.mapper().writeValue(generator, result));
    }

    /** Writes a document incrementally, for documents too large for memory, and a final newline. */
    public void write(Consumer<JsonGenerator> document) {
        writeContent(out -> {
            try (JsonGenerator generator = StrictJson.mapper()
                    .writer()
                    .without(StreamWriteFeature.AUTO_CLOSE_TARGET)
                    .createGenerator(out)) {
                document.accept(generator);
            }
            out.write('\n');
        });
    }

    /** Writes text. */
    public void write(String text) {
        writeContent(out -> out.write(text.getBytes(StandardCharsets.UTF_8)));
    }

    /** A writer of a file's content. */
    @FunctionalInterface
    private interface Content {
        void writeTo(OutputStream out) throws IOException;
    }

    private void writeContent(Content content) {
        try {
            if (isReplaced()) {
                replace(content);
            } else {
                writeTo(target, content);
            }
        } catch (IOException | JacksonException failure) {
            throw new OutputFailed(flag + " " + path + " could not be written: " + failure.getMessage(), failure);
        }
    }

    private boolean isReplaced() {
        Path folder = target.resolveSibling(".");
        return !folder.startsWith(DEVICES)
                && !isStream()
                && Files.isWritable(folder)
                && (Files.notExists(target) || Files.isRegularFile(target));
    }

    /** Writes a temporary file and moves it. Its name is independent of the target's, which may have the maximum length. */
    private void replace(Content content) throws IOException {
        Path temporary = target.resolveSibling(".roseinfer." + UUID.randomUUID() + ".part");
        try {
            Files.createFile(temporary);
            if (takesAfter(temporary, target)) {
                writeTo(temporary, content);
                Files.move(temporary, target, StandardCopyOption.ATOMIC_MOVE);
            } else {
                writeTo(target, content);
            }
        } finally {
            Files.deleteIfExists(temporary);
        }
    }

    /** Copies owner and permissions of the file to be replaced, if it exists; returns false if that is not possible. */
    private static boolean takesAfter(Path file, Path replaced) {
        PosixFileAttributeView view = Files.getFileAttributeView(file, PosixFileAttributeView.class);
        if (view == null || Files.notExists(replaced)) {
            return true;
        }
        try {
            PosixFileAttributes wanted = Files.readAttributes(replaced, PosixFileAttributes.class);
            PosixFileAttributes made = view.readAttributes();
            if (!made.owner().equals(wanted.owner())) {
                view.setOwner(wanted.owner());
            }
            if (!made.group().equals(wanted.group())) {
                view.setGroup(wanted.group());
            }
            view.setPermissions(wanted.permissions());
            return true;
        } catch (IOException refused) {
            return false;
        }
    }

    private void writeTo(Path file, Content content) throws IOException {
        Optional<StandardStream> standard = StandardStream.named(file);
        OutputStream opened = standard.isPresent() ? standard.get().open() : Files.newOutputStream(file);
        try (OutputStream out = compression.compressed(new BufferedOutputStream(opened))) {
            content.writeTo(out);
        }
    }
}
