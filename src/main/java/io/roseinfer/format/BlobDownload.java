package io.roseinfer.format;

import io.roseinfer.base.RoseException.BadModel;
import java.io.IOException;
import java.net.URI;
import java.net.http.HttpHeaders;
import java.net.http.HttpResponse;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.nio.file.StandardOpenOption;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.atomic.AtomicLong;

/**
 * Brings one file into a cache folder's blobs: into {@code <etag>.incomplete}, going on where an earlier download broke off,
 * then size and hash are checked, then it is renamed. What bears a blob's name is whole and right.
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

    /** Makes the blob exist; does nothing if it does already. */
    @SuppressWarnings("try") // the lock is held, not used
    void fetch(RemoteFile file) {
        if (isPresent(file)) {
            return;
        }
        try (BlobLock lock = BlobLock.acquire(folder.lock(file.etag()), () -> listener.waiting(file.name()))) {
            if (!isPresent(file)) {
                Files.createDirectories(folder.blob(file.etag()).getParent());
                retry.run(file.name(), () -> attempt(file));
            }
        } catch (IOException e) {
            throw FileFailure.writing(folder.path(), e);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new BadModel("waiting for " + Quoted.name(file.name()) + " was interrupted; run again", e);
        }
    }

    private boolean isPresent(RemoteFile file) {
        Path blob = folder.blob(file.etag());
        try {
            return Files.exists(blob) && (file.bytes() < 0 || Files.size(blob) == file.bytes());
        } catch (IOException e) {
            throw FileFailure.reading(blob, e);
        }
    }

    private Path attempt(RemoteFile file) throws IOException, InterruptedException {
        Path partial = folder.incomplete(file.etag());
        long resumedFrom;
        try (FileChannel out = open(partial)) {
            resumedFrom = usable(file, out);
            if (file.bytes() < 0 || resumedFrom < file.bytes()) {
                receive(file, partial, out, resumedFrom);
            }
            out.force(true);
        }
        requireSound(file, partial, resumedFrom > 0);
        return Files.move(
                partial, folder.blob(file.etag()), StandardCopyOption.ATOMIC_MOVE, StandardCopyOption.REPLACE_EXISTING);
    }

    private static FileChannel open(Path partial) {
        try {
            return FileChannel.open(partial, StandardOpenOption.CREATE, StandardOpenOption.WRITE);
        } catch (IOException e) {
            throw FileFailure.writing(partial, e);
        }
    }

    /** How much of an earlier download can be kept: all or nothing. */
    private static long usable(RemoteFile file, FileChannel out) throws IOException {
        if (file.bytes() >= 0 && out.size() > file.bytes()) {
            out.truncate(0);
        }
        return out.size();
    }

    private void receive(RemoteFile file, Path partial, FileChannel out, long have)
            throws IOException, InterruptedException {
        URI address = file.address();
        for (int hop = 0; hop < HubHttp.MAX_HOPS; hop++) {
            AtomicLong arrived = new AtomicLong(have);
            HttpResponse<Void> response = http.get(
                    address,
                    headers(file, address, have),
                    info -> body(file, partial, out, have, info, arrived),
                    arrived::get);
            Optional<URI> target = HubHttp.redirect(address, response);
            if (target.isEmpty()) {
                requireReceived(file, out, have, response);
                return;
            }
            address = target.get();
        }
        throw new BadModel("download of " + Quoted.name(file.name()) + " is redirected in circles; check HF_ENDPOINT");
    }

    /**
     * {@code If-Range} goes to the hub only: the store behind it has entity tags of its own, would find ours changed and send
     * everything again. There it is the hash that tells whether the two parts belong together.
     */
    private Map<String, String> headers(RemoteFile file, URI address, long have) {
        Map<String, String> headers = new LinkedHashMap<>();
        if (have > 0) {
            headers.put("Range", "bytes=" + have + "-");
            if (http.isHub(address)) {
                headers.put("If-Range", '"' + file.etag().hex() + '"');
            }
        }
        return headers;
    }

    private HttpResponse.BodySubscriber<Void> body(
            RemoteFile file,
            Path partial,
            FileChannel out,
            long have,
            HttpResponse.ResponseInfo info,
            AtomicLong arrived) {
        boolean continues = continues(info.statusCode(), info.headers(), have);
        if (!continues && info.statusCode() != 200) {
            return BlobSubscriber.refusing();
        }
        long position = continues ? have : 0;
        if (announces(file, info.headers(), position).isPresent()) {
            return BlobSubscriber.refusing();
        }
        try {
            out.truncate(position);
        } catch (IOException e) {
            throw FileFailure.writing(partial, e);
        }
        long limit = file.bytes() < 0 ? Long.MAX_VALUE : file.bytes();
        return new BlobSubscriber(partial, out, position, limit, bytes -> {
            arrived.set(bytes);
            listener.progress(file.name(), bytes, file.bytes());
        });
    }

    private static boolean continues(int status, HttpHeaders headers, long have) {
        return status == 206
                && have > 0
                && headers.firstValue("content-range").orElse("").startsWith("bytes " + have + "-");
    }

    /** The total size that an answer announces, if it is another than the hub's. */
    private static Optional<Long> announces(RemoteFile file, HttpHeaders headers, long position) {
        Optional<String> length = headers.firstValue("content-length").filter(text -> text.matches("[0-9]{1,18}"));
        return length.map(text -> position + Long.parseLong(text))
                .filter(total -> file.bytes() >= 0 && total != file.bytes());
    }

    private void requireReceived(RemoteFile file, FileChannel out, long have, HttpResponse<Void> response)
            throws IOException {
        TransientStatus.throwIf(response);
        int status = response.statusCode();
        boolean continued = continues(status, response.headers(), have);
        if (status == 416 || (status == 206 && !continued)) {
            out.truncate(0);
            throw new IOException("the server cannot continue the partial download; it starts over");
        }
        if (status != 200 && !continued) {
            throw refusal.of(file.name(), response);
        }
        Optional<Long> other = announces(file, response.headers(), continued ? have : 0);
        if (other.isPresent()) {
            throw wrongSize(file, other.get());
        }
        if (file.bytes() >= 0 && out.size() < file.bytes()) {
            throw new IOException("the body ended after " + out.size() + " of " + file.bytes() + " bytes");
        }
    }

    private void requireSound(RemoteFile file, Path partial, boolean resumed) throws IOException {
        if (file.etag().matches(partial)) {
            return;
        }
        Files.delete(partial);
        if (resumed) {
            throw new IOException("the parts of the resumed download do not fit together; it starts over");
        }
        throw new BadModel(
                "download of " + Quoted.name(file.name()) + ": its hash is not the "
                        + file.etag().hex()
                        + " that the hub states; the file was damaged on the way or in the store, try again or check HF_ENDPOINT");
    }

    private static BadModel wrongSize(RemoteFile file, long bytes) {
        return new BadModel("download of " + Quoted.name(file.name()) + ": wrong size: the hub states " + file.bytes()
                + " bytes, the server sends " + bytes + "; try again or check HF_ENDPOINT");
    }
}
