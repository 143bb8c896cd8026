package io.roseinfer.hub;

import io.roseinfer.base.FileFailure;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Optional;
import java.util.UUID;
import java.util.regex.Pattern;
import java.util.stream.Stream;

/**
 * One repository's folder in a Hugging Face cache. {@code blobs/<etag>} has the bytes,
 * {@code snapshots/<commit>/<file>} links to them, and {@code .no_exist/<commit>/<file>} marks files that the
 * repository does not have. {@code refs/main} has the last seen commit of the branch {@code main}; other branches and
 * tags have their own files there.
 */
final class CacheFolder {
    private static final Pattern COMMIT = Pattern.compile("[0-9a-f]{40}");

    /** Suffix of this tool's partial files; other tools use {@code <etag>.incomplete} and others. */
    private static final String PARTIAL = ".roseinfer.incomplete";

    private static final Pattern UNSHARED =
            Pattern.compile("[0-9a-f]{40,64}\\.[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}" + Pattern.quote(PARTIAL));

    private static final Duration STALE = Duration.ofDays(1);

    private final CacheVolume volume;
    private final Path folder;
    private final Path locks;

    CacheFolder(Path cacheDirectory, HubId id) {
        this(cacheDirectory, id, CacheVolume.REAL);
    }

    public CacheFolder(Path cacheDirectory, HubId id, CacheVolume volume) {
        this.volume = volume;
        this.folder = cacheDirectory.resolve(id.folderName());
        this.locks = cacheDirectory.resolve(".locks").resolve(id.folderName());
    }

    /** Returns whether a text is a commit: 40 hexadecimal digits. */
    public static boolean isCommit(String text) {
        return COMMIT.matcher(text).matches();
    }

    /** Returns the folder's path. */
    public Path path() {
        return folder;
    }

    /** Returns the free space; a large number if the file system does not report it. */
    public long usableBytes() {
        try {
            Files.createDirectories(folder);
            return volume.usableBytes(folder);
        } catch (IOException unknown) {
            return Long.MAX_VALUE;
        }
    }

    /** Returns the path of the blob with a tag, which need not exist. */
    public Path blob(Etag etag) {
        return folder.resolve("blobs").resolve(etag.hex());
    }

    /** Returns the partial file of the blob lock's holder, which resumes it if an earlier holder was killed. */
    public Path resumable(Etag etag) {
        return folder.resolve("blobs").resolve(etag.hex() + PARTIAL);
    }

    /** Returns a new partial file for a download without an exclusive lock. */
    public Path unshared(Etag etag) {
        return folder.resolve("blobs").resolve(etag.hex() + "." + UUID.randomUUID() + PARTIAL);
    }

    /**
     * Removes the unshared partial files of killed downloads: those not modified in the day before a blob was
     * downloaded. A failure is ignored.
     */
    public void removeStale(Etag downloaded) {
        Path blob = blob(downloaded);
        try (Stream<Path> files = Files.list(blob.getParent())) {
            Instant limit = Files.getLastModifiedTime(blob).toInstant().minus(STALE);
            List<Path> unshared = files.filter(file ->
                            UNSHARED.matcher(file.getFileName().toString()).matches())
                    .toList();
            for (Path file : unshared) {
                if (Files.getLastModifiedTime(file).toInstant().isBefore(limit)) {
                    Files.deleteIfExists(file);
                }
            }
        } catch (IOException e) {
            // The next download tries again.
        }
    }

    /** Waits for the lock that all tools take to download the blob. */
    public BlobLock lock(Etag etag, Runnable onWait) throws InterruptedException {
        return BlobLock.acquire(locks.resolve(etag.hex() + ".lock"), volume, onWait);
    }

    /** Returns the directory of the repository's files at a commit. */
    public Path snapshot(String commit) {
        return folder.resolve("snapshots").resolve(commit);
    }

    /** Returns the last seen commit of a branch or tag; a commit is returned unchanged. */
    Optional<String> commit(String revision) {
        if (isCommit(revision)) {
            return Optional.of(revision);
        }
        Path ref = folder.resolve("refs").resolve(revision);
        try {
            return Optional.of(Files.readString(ref, StandardCharsets.US_ASCII).strip())
                    .filter(CacheFolder::isCommit);
        } catch (NoSuchFileException e) {
            return Optional.empty();
        } catch (IOException e) {
            throw FileFailure.reading(ref, e);
        }
    }

    /** Records the commit of a branch or tag; does nothing for a commit. */
    public void writeCommit(String revision, String commit) {
        if (isCommit(revision)) {
            return;
        }
        Path ref = folder.resolve("refs").resolve(revision);
        try {
            Files.createDirectories(ref.resolveSibling(""));
            replace(ref, draft -> Files.writeString(draft, commit, StandardCharsets.US_ASCII));
        } catch (IOException e) {
            throw FileFailure.writing(ref, e);
        }
    }

    /**
     * Makes {@code snapshots/<commit>/<file>} refer to a blob: by a relative link like other tools, or by a copy on
     * file systems without links. Readers see the old entry or the new one, never a partial one.
     *
     * @param file a plain relative name inside the directory
     */
    public void publish(String commit, String file, Etag etag) {
        Path entry = snapshot(commit).resolve(file);
        Path directory = entry.resolveSibling("");
        Path blob = blob(etag);
        try {
            if (Files.exists(entry) && Files.isSameFile(entry, blob)) {
                return;
            }
            Files.createDirectories(directory);
            replace(entry, draft -> linkOrCopy(draft, directory.relativize(blob), blob));
        } catch (IOException e) {
            throw FileFailure.writing(entry, e);
        }
    }

    /** Returns whether a file is known not to be in the repository at a commit. */
    boolean isKnownAbsent(String commit, String file) {
        return Files.exists(absence(commit, file));
    }

    /**
     * Records that a file is not in the repository at a commit. If that cannot be written, the hub will be asked again.
     */
    public void noteAbsent(String commit, String file) {
        Path note = absence(commit, file);
        try {
            Files.createDirectories(note.resolveSibling(""));
            Files.write(note, new byte[0]);
        } catch (IOException e) {
            // A read-only cache can still be used.
        }
    }

    private Path absence(String commit, String file) {
        return folder.resolve(".no_exist").resolve(commit).resolve(file);
    }

    private void linkOrCopy(Path draft, Path relative, Path blob) throws IOException {
        try {
            volume.link(draft, relative);
        } catch (IOException | UnsupportedOperationException noLinksHere) {
            Files.copy(blob, draft);
        }
    }

    /** Creates a file at a path. */
    @FunctionalInterface
    private interface Making {
        void at(Path draft) throws IOException;
    }

    /** Creates a file next to the target and renames it; if either fails, the new file is removed. */
    private static void replace(Path target, Making file) throws IOException {
        Path draft = target.resolveSibling("." + target.getFileName() + "." + UUID.randomUUID());
        try {
            file.at(draft);
            Files.move(draft, target, StandardCopyOption.ATOMIC_MOVE, StandardCopyOption.REPLACE_EXISTING);
        } finally {
            Files.deleteIfExists(draft);
        }
    }
}
