package io.roseinfer.hub;

import io.roseinfer.base.FileFailure;
import io.roseinfer.base.Limits;
import io.roseinfer.base.Quoted;
import io.roseinfer.base.RoseException.BadModel;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.net.URI;
import java.net.http.HttpHeaders;
import java.net.http.HttpResponse;
import java.nio.channels.ClosedByInterruptException;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.nio.file.StandardOpenOption;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.atomic.AtomicBoolean;

/**
 * Downloads files into a cache folder's blobs. The bytes go to a partial file that no other tool writes to, resuming an
 * earlier download; then size and hash are verified, and the file is renamed. So a file with a blob's name is complete
 * and correct.
 *
 * <p>A partial file only grows. A restarted download creates a new one in its place: if a lock has failed and the old
 * file was published meanwhile, it is not truncated.
 */
final class BlobDownload {
    private static final int BUFFER_BYTES = 1 << 16;

    private final HubClient client;
    private final HubId id;
    private final CacheFolder folder;

    BlobDownload(HubClient client, HubId id, CacheFolder folder) {
        this.client = client;
        this.id = id;
        this.folder = folder;
    }

    /**
     * Downloads the blob unless it exists. A small blob is verified by its hash, a large one by its size, since hashing
     * takes a second per gigabyte.
     *
     * @param suspect whether the hash of a large one is verified, too
     */
    void fetch(RemoteFile file, boolean suspect) {
        if (isPresent(file, suspect)) {
            return;
        }
        try (BlobLock lock = folder.lock(file.etag(), () -> client.listener().waiting(file.name()))) {
            if (!isPresent(file, suspect)) {
                download(file, lock.isExclusive());
            }
        } catch (IOException e) {
            throw FileFailure.writing(folder.path(), e);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new BadModel("waiting for " + Quoted.name(file.name()) + " was interrupted; try again", e);
        }
    }

    /**
     * Checks that the disk has space for what is missing.
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
            throw new BadModel("the weights need " + missing + " more bytes, but " + FileFailure.shown(folder.path())
                    + " has " + usable + " bytes of free disk space; free some, or set HF_HOME to another disk");
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
            client.retry(
                    id,
                    file.name(),
                    HubClient.MAX_ATTEMPTS,
                    () -> size(partial),
                    () -> attempt(file, partial, damagedBefore));
        } finally {
            if (!exclusive) {
                // Another process may still write to this name, so no download resumes it.
                Files.deleteIfExists(partial);
            }
        }
        folder.removeStale(file.etag());
    }

    private static long size(Path file) {
        try {
            return Files.exists(file) ? Files.size(file) : 0;
        } catch (IOException e) {
            return 0;
        }
    }

    private Path attempt(RemoteFile file, Path partial, AtomicBoolean damagedBefore)
            throws IOException, InterruptedException {
        if (file.bytes() >= 0 && size(partial) > file.bytes()) {
            Files.delete(partial);
        }
        long have = size(partial);
        if (have == 0 || have != file.bytes()) {
            receive(file, partial, have);
        }
        try (FileChannel written = FileChannel.open(partial, StandardOpenOption.WRITE)) {
            written.force(true);
        }
        requireSound(file, partial, have > 0, damagedBefore);
        return Files.move(
                partial, folder.blob(file.etag()), StandardCopyOption.ATOMIC_MOVE, StandardCopyOption.REPLACE_EXISTING);
    }

    /** Follows the redirects to the file's bytes and saves the missing ones. */
    private void receive(RemoteFile file, Path partial, long have) throws IOException, InterruptedException {
        URI address = file.address();
        for (int hop = 0; hop < HubClient.MAX_HOPS; hop++) {
            HttpResponse<InputStream> response = client.get(address, headers(file, address, have));
            try (InputStream body = response.body()) {
                Optional<URI> target = HubClient.redirect(address, response);
                if (target.isEmpty()) {
                    save(file, partial, startOf(file, partial, have, response), body);
                    return;
                }
                address = target.get();
            }
        }
        throw new BadModel("download of " + Quoted.name(file.name()) + " is redirected in circles; check HF_ENDPOINT");
    }

    /**
     * Returns the headers that request the rest. {@code If-Range} is sent to the hub only: the store has different
     * entity tags and would send everything again. The hash verifies that both parts match.
     */
    private Map<String, String> headers(RemoteFile file, URI address, long have) {
        Map<String, String> headers = new LinkedHashMap<>();
        if (have > 0) {
            headers.put("Range", "bytes=" + have + "-");
            if (client.isHub(address)) {
                headers.put("If-Range", '"' + file.etag().hex() + '"');
            }
        }
        return headers;
    }

    /**
     * Checks the headers of a response, and returns the position in the file at which its body begins.
     *
     * @throws IOException if another attempt may succeed
     * @throws BadModel if none will
     */
    private long startOf(RemoteFile file, Path partial, long have, HttpResponse<?> response) throws IOException {
        HubClient.requireLasting(response);
        int status = response.statusCode();
        HttpHeaders headers = response.headers();
        boolean continues = status == 206
                && have > 0
                && headers.firstValue("content-range").orElse("").startsWith("bytes " + have + "-");
        if (status == 416 || (status == 206 && !continues)) {
            Files.deleteIfExists(partial);
            throw new IOException("the server cannot resume the partial download; restarting");
        }
        if (status != 200 && !continues) {
            throw client.refusal(id, file.name(), response);
        }
        long start = continues ? have : 0;
        headers.firstValue("content-length")
                .filter(text -> text.matches("[0-9]{1,18}"))
                .ifPresent(text -> file.requireAnnounced(start + Long.parseLong(text)));
        return start;
    }

    /** Writes a body to the partial file as it arrives, up to the announced size. */
    private void save(RemoteFile file, Path partial, long start, InputStream body) throws IOException {
        if (start == 0) {
            Files.deleteIfExists(partial);
        }
        long position = start;
        try (OutputStream out = open(partial)) {
            byte[] buffer = new byte[BUFFER_BYTES];
            for (int bytes = body.read(buffer); bytes >= 0; bytes = body.read(buffer)) {
                if (bytes > file.maxBytes() - position) {
                    Files.delete(partial);
                    throw file.tooMuch();
                }
                write(out, buffer, bytes, partial);
                position += bytes;
                client.listener().progress(file.name(), position, file.bytes());
            }
        }
        if (position < file.bytes()) {
            throw new IOException("the body ended after " + position + " of " + file.bytes() + " bytes");
        }
    }

    private static OutputStream open(Path partial) {
        try {
            return Files.newOutputStream(partial, StandardOpenOption.CREATE, StandardOpenOption.APPEND);
        } catch (IOException e) {
            throw FileFailure.writing(partial, e);
        }
    }

    private static void write(OutputStream out, byte[] buffer, int bytes, Path partial)
            throws ClosedByInterruptException {
        try {
            out.write(buffer, 0, bytes);
        } catch (ClosedByInterruptException e) {
            throw e;
        } catch (IOException e) {
            throw FileFailure.writing(partial, e);
        }
    }

    private static void requireSound(RemoteFile file, Path partial, boolean resumed, AtomicBoolean damagedBefore)
            throws IOException {
        if (file.etag().matches(partial)) {
            return;
        }
        Files.delete(partial);
        if (resumed) {
            throw new IOException("the parts of the resumed download do not match; restarting");
        }
        if (!damagedBefore.getAndSet(true)) {
            throw new IOException("the file's hash differs from the hub's; downloading again");
        }
        throw new BadModel("download of " + Quoted.name(file.name()) + ": its hash differs from the hub's "
                + file.etag().hex()
                + " twice; the file is damaged in transit or in the store, try again or check HF_ENDPOINT");
    }
}
