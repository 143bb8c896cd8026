package io.roseinfer.format;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.util.Optional;
import java.util.UUID;
import java.util.regex.Pattern;

/**
 * One repository's folder in a Hugging Face cache: {@code blobs/<etag>} hold the bytes,
 * {@code snapshots/<commit>/<file>} link to them, {@code refs/main} names the commit.
 */
final class CacheFolder {
    private static final Pattern COMMIT = Pattern.compile("[0-9a-f]{40}");

    private final Path folder;
    private final Path locks;

    CacheFolder(Path cacheDirectory, HubId id) {
        this.folder = cacheDirectory.resolve(id.folderName());
        this.locks = cacheDirectory.resolve(".locks").resolve(id.folderName());
    }

    static boolean isCommit(String text) {
        return COMMIT.matcher(text).matches();
    }

    Path path() {
        return folder;
    }

    Path blob(Etag etag) {
        return folder.resolve("blobs").resolve(etag.hex());
    }

    Path incomplete(Etag etag) {
        return folder.resolve("blobs").resolve(etag.hex() + ".incomplete");
    }

    Path lock(Etag etag) {
        return locks.resolve(etag.hex() + ".lock");
    }

    Path snapshot(String commit) {
        return folder.resolve("snapshots").resolve(commit);
    }

    /** The commit that a branch was last seen at. */
    Optional<String> commit(String branch) {
        Path ref = folder.resolve("refs").resolve(branch);
        try {
            return Optional.of(Files.readString(ref, StandardCharsets.US_ASCII).strip())
                    .filter(CacheFolder::isCommit);
        } catch (NoSuchFileException e) {
            return Optional.empty();
        } catch (IOException e) {
            throw FileFailure.reading(ref, e);
        }
    }

    void writeCommit(String branch, String commit) {
        Path ref = folder.resolve("refs").resolve(branch);
        try {
            Files.createDirectories(ref.resolveSibling(""));
            Path draft = draft(ref);
            Files.writeString(draft, commit, StandardCharsets.US_ASCII);
            replace(draft, ref);
        } catch (IOException e) {
            throw FileFailure.writing(ref, e);
        }
    }

    /**
     * Makes {@code snapshots/<commit>/<file>} show a blob: by a relative link as other tools do, by a copy where the file system
     * has no links. Whoever looks sees the old entry or the new one, never half of one.
     *
     * @param file a name that {@link RelativeName} allows
     */
    void publish(String commit, String file, Etag etag, Linker linker) {
        Path entry = snapshot(commit).resolve(file);
        Path directory = entry.resolveSibling("");
        Path blob = blob(etag);
        try {
            if (Files.exists(entry) && Files.isSameFile(entry, blob)) {
                return;
            }
            Files.createDirectories(directory);
            Path draft = draft(entry);
            try {
                linker.link(draft, directory.relativize(blob));
            } catch (IOException | UnsupportedOperationException noLinksHere) {
                Files.copy(blob, draft);
            }
            replace(draft, entry);
        } catch (IOException e) {
            throw FileFailure.writing(entry, e);
        }
    }

    /** Creates a symbolic link; a seam, since no test can take links away from its file system. */
    @FunctionalInterface
    interface Linker {
        void link(Path link, Path target) throws IOException;
    }

    private static Path draft(Path target) {
        return target.resolveSibling("." + target.getFileName() + "." + UUID.randomUUID());
    }

    private static void replace(Path draft, Path target) throws IOException {
        Files.move(draft, target, StandardCopyOption.ATOMIC_MOVE, StandardCopyOption.REPLACE_EXISTING);
    }
}
