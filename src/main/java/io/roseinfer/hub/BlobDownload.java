package io.roseinfer.hub;

import io.roseinfer.base.FileFailure;
import io.roseinfer.base.Limits;
import io.roseinfer.base.Quoted;
import io.roseinfer.base.RoseException.BadModel;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.util.List;
import java.util.concurrent.atomic.AtomicBoolean;

/**
 * Brings one file into a cache folder's blobs: into a partial file that no other tool writes to, going on where an earlier
 * download broke off, then size and hash are checked, then it is renamed. What bears a blob's name is whole and right.
 */
final class BlobDownload {
    private final HubHttp http;
    private final CacheFolder folder;
    private final HubRefusal refusal;
    private final Retry retry;
    private final DownloadListener listener;

    BlobDownload(HubHttp http, CacheFolder folder, HubRefusal refusal, Retry retry, DownloadListener listener) {
        this.http = http;
        this.folder = folder;
        this.refusal = refusal;
        this.retry = retry;
        this.listener = listener;
    }

    /**
     * Makes the blob exist; does nothing if it does already. A small one counts if its hash is right, a large one by its size, since
     * hashing takes a second per gigabyte.
     *
     * @param suspect whether a large one, too, must have the right hash
     */
    void fetch(RemoteFile file, boolean suspect) {
        if (isPresent(file, suspect)) {
            return;
        }
        try (BlobLock lock = folder.lock(file.etag(), () -> listener.waiting(file.name()))) {
            if (!isPresent(file, suspect)) {
                download(file, lock.isExclusive());
            }
        } catch (IOException e) {
            throw FileFailure.writing(folder.path(), e);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new BadModel("waiting for " + Quoted.name(file.name()) + " was interrupted; run again", e);
        }
    }

    /**
     * Checks that the disk has room for what is not there yet.
     *
     * @throws BadModel if it has not
     */
    void requireSpace(List<RemoteFile> files) {
        long missing = 0;
        for (RemoteFile file : files) {
            long there = Math.max(size(folder.blob(file.etag())), size(folder.resumable(file.etag())));
            missing += Math.max(0, file.bytes() - there);
        }
        long usable = folder.usableBytes();
        if (missing > usable) {
            throw new BadModel("the weights take " + missing + " more bytes, and " + FileFailure.shown(folder.path())
                    + " is on a disk with " + usable + " bytes free; free some, or let HF_HOME name another disk");
        }
    }

    private boolean isPresent(RemoteFile file, boolean suspect) {
        Path blob = folder.blob(file.etag());
        try {
            if (!Files.exists(blob) || (file.bytes() >= 0 && Files.size(blob) != file.bytes())) {
                return false;
            }
            boolean verify = suspect || Files.size(blob) <= Limits.CONFIG_BYTES;
            return !verify || file.etag().matches(blob);
        } catch (IOException e) {
            throw FileFailure.reading(blob, e);
        }
    }

    private void download(RemoteFile file, boolean exclusive) throws IOException {
        Files.createDirectories(folder.blob(file.etag()).getParent());
        Path partial = exclusive ? folder.resumable(file.etag()) : folder.unshared(file.etag());
        try {
            AtomicBoolean damagedBefore = new AtomicBoolean();
            retry.run(file.name(), () -> attempt(file, partial, damagedBefore), () -> size(partial));
        } finally {
            if (!exclusive) {
                // Nobody can tell whether a file of this name is still written to, so nobody would resume it.
                Files.deleteIfExists(partial);
            }
        }
        folder.removeStale(file.etag());
    }

    private static long size(Path partial) {
        try {
            return Files.exists(partial) ? Files.size(partial) : 0;
        } catch (IOException e) {
            return 0;
        }
    }

    private Path attempt(RemoteFile file, Path partial, AtomicBoolean damagedBefore)
            throws IOException, InterruptedException {
        long resumedFrom;
        try (PartialFile out = PartialFile.open(partial)) {
            if (file.bytes() >= 0 && out.size() > file.bytes()) {
                out.startOver();
            }
            resumedFrom = out.size();
            if (file.bytes() < 0 || resumedFrom < file.bytes()) {
                new BlobTransfer(http, refusal, listener, file, out).receive(resumedFrom);
            }
            out.force();
        }
        requireSound(file, partial, resumedFrom > 0, damagedBefore);
        return Files.move(
                partial, folder.blob(file.etag()), StandardCopyOption.ATOMIC_MOVE, StandardCopyOption.REPLACE_EXISTING);
    }

    private void requireSound(RemoteFile file, Path partial, boolean resumed, AtomicBoolean damagedBefore)
            throws IOException {
        if (file.etag().matches(partial)) {
            return;
        }
        Files.delete(partial);
        if (resumed) {
            throw new IOException("the parts of the resumed download do not fit together; it starts over");
        }
        if (!damagedBefore.getAndSet(true)) {
            throw new IOException("the file has another hash than the hub states; it is downloaded again");
        }
        throw new BadModel(
                "download of " + Quoted.name(file.name()) + ": its hash is not the "
                        + file.etag().hex()
                        + " that the hub states, twice; the file was damaged on the way or in the store, try again or check HF_ENDPOINT");
    }
}
