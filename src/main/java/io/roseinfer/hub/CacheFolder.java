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
 * One repository's folder in a Hugging Face cache: {@code blobs/<etag>} hold the bytes,
 * {@code snapshots/<commit>/<file>} link to them, {@code .no_exist/<commit>/<file>} say what is not there, {@code refs/main} names
 * the commit that the branch {@code main} was seen at; other branches and tags have files of their own there.
 */
final class CacheFolder {
    private static final Pattern COMMIT = Pattern.compile("[0-9a-f]{40}");

    /** Ends the names of partial files that are ours; other tools use {@code <etag>.incomplete} and their own. */
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

    /** Whether a text is a commit: 40 hexadecimal digits. */
    public static boolean isCommit(String text) {
        return COMMIT.matcher(text).matches();
    }

    /** The folder itself. */
    public Path path() {
        return folder;
    }

    /** Returns the bytes that can still be written here; a large number if the file system does not say. */
    public long usableBytes() {
        try {
            Files.createDirectories(folder);
            return volume.usableBytes(folder);
        } catch (IOException unknown) {
            return Long.MAX_VALUE;
        }
    }

    /** Where the bytes with a tag are, or would be. */
    public Path blob(Etag etag) {
        return folder.resolve("blobs").resolve(etag.hex());
    }

    /** Where the holder of the blob's lock collects its bytes, and goes on if the one before has been killed. */
    public Path resumable(Etag etag) {
        return folder.resolve("blobs").resolve(etag.hex() + PARTIAL);
    }

    /** Where one download collects the blob's bytes if nothing keeps others away from it: a new name each time. */
    public Path unshared(Etag etag) {
        return folder.resolve("blobs").resolve(etag.hex() + "." + UUID.randomUUID() + PARTIAL);
    }

    /**
     * Removes the unshared partial files of downloads that were killed, told by their age: those that nobody has written to for a
     * day before a blob came in. Failing to is no failure.
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

    /** The directory of the repository's files at a commit. */
    public Path snapshot(String commit) {
        return folder.resolve("snapshots").resolve(commit);
    }

    /** The commit that a branch or tag was last seen at; a commit is its own. */
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

    /** Remembers the commit that a branch or tag was seen at; a commit is its own. */
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
     * Makes {@code snapshots/<commit>/<file>} show a blob: by a relative link as other tools do, by a copy where the file system
     * has no links. Whoever looks sees the old entry or the new one, never half of one.
     *
     * @param file a plain relative name, which leaves no directory
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

    /** Whether a file is known not to be in the repository at a commit. */
    boolean isKnownAbsent(String commit, String file) {
        return Files.exists(absence(commit, file));
    }

    /** Remembers that a file is not in the repository at a commit. Where that cannot be written, the hub is asked again. */
    public void noteAbsent(String commit, String file) {
        Path note = absence(commit, file);
        try {
            Files.createDirectories(note.resolveSibling(""));
            Files.write(note, new byte[0]);
        } catch (IOException e) {
            // A cache that is read-only still serves what it holds.
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

    /** Makes a file at the path that it is given. */
    @FunctionalInterface
    private interface Making {
        void at(Path draft) throws IOException;
    }

    /** Makes a file beside the target that then takes its name; where either fails, nothing is left of it. */
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
