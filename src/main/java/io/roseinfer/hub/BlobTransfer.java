package io.roseinfer.hub;

import io.roseinfer.base.FileFailure;
import io.roseinfer.base.Quoted;
import io.roseinfer.base.RoseException.BadModel;
import java.io.IOException;
import java.net.URI;
import java.net.http.HttpHeaders;
import java.net.http.HttpResponse;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.atomic.AtomicLong;

/** One attempt to get the rest of a file. What an answer announces is checked before a byte of it is written. */
final class BlobTransfer {
    private final HubHttp http;
    private final HubRefusal refusal;
    private final DownloadListener listener;
    private final RemoteFile file;
    private final PartialFile out;

    BlobTransfer(HubHttp http, HubRefusal refusal, DownloadListener listener, RemoteFile file, PartialFile out) {
        this.http = http;
        this.refusal = refusal;
        this.listener = listener;
        this.file = file;
        this.out = out;
    }

    /**
     * Receives what is missing.
     *
     * @param have how many bytes are there already
     * @throws IOException if another attempt may bring more
     * @throws BadModel if none will
     */
    void receive(long have) throws IOException, InterruptedException {
        URI address = file.address();
        for (int hop = 0; hop < HubHttp.MAX_HOPS; hop++) {
            AtomicLong arrived = new AtomicLong(have);
            HttpResponse<Void> response =
                    http.get(address, headers(address, have), info -> body(info, have, arrived), arrived::get);
            Optional<URI> target = HubHttp.redirect(address, response);
            if (target.isEmpty()) {
                requireReceived(have, response);
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
    private Map<String, String> headers(URI address, long have) {
        Map<String, String> headers = new LinkedHashMap<>();
        if (have > 0) {
            headers.put("Range", "bytes=" + have + "-");
            if (http.isHub(address)) {
                headers.put("If-Range", '"' + file.etag().hex() + '"');
            }
        }
        return headers;
    }

    private HttpResponse.BodySubscriber<Void> body(HttpResponse.ResponseInfo info, long have, AtomicLong arrived) {
        boolean continues = continues(info.statusCode(), info.headers(), have);
        if (!continues && info.statusCode() != 200) {
            return BlobSubscriber.refusing();
        }
        long position = continues ? have : 0;
        if (objection(info.headers(), position).isPresent()) {
            return BlobSubscriber.refusing();
        }
        if (!continues) {
            try {
                out.startOver();
            } catch (IOException e) {
                throw FileFailure.writing(out.path(), e);
            }
        }
        return new BlobSubscriber(file, out, position, bytes -> {
            arrived.set(bytes);
            listener.progress(file.name(), bytes, file.bytes());
        });
    }

    private static boolean continues(int status, HttpHeaders headers, long have) {
        return status == 206
                && have > 0
                && headers.firstValue("content-range").orElse("").startsWith("bytes " + have + "-");
    }

    /** Why a body is not wanted, if the length that its headers announce says so. */
    private Optional<BadModel> objection(HttpHeaders headers, long position) {
        Optional<Long> total = headers.firstValue("content-length")
                .filter(text -> text.matches("[0-9]{1,18}"))
                .map(text -> position + Long.parseLong(text));
        if (file.bytes() >= 0) {
            return total.filter(bytes -> bytes != file.bytes()).map(this::wrongSize);
        }
        return total.filter(bytes -> bytes > file.maxBytes()).map(bytes -> file.tooLarge("the server sends " + bytes));
    }

    private BadModel wrongSize(long bytes) {
        return new BadModel("download of " + Quoted.name(file.name()) + ": wrong size: the hub states " + file.bytes()
                + " bytes, the server sends " + bytes + "; try again or check HF_ENDPOINT");
    }

    private void requireReceived(long have, HttpResponse<Void> response) throws IOException {
        TransientStatus.throwIf(response);
        int status = response.statusCode();
        boolean continued = continues(status, response.headers(), have);
        if (status == 416 || (status == 206 && !continued)) {
            out.startOver();
            throw new IOException("the server cannot continue the partial download; it starts over");
        }
        if (status != 200 && !continued) {
            throw refusal.of(file.name(), response);
        }
        Optional<BadModel> objection = objection(response.headers(), continued ? have : 0);
        if (objection.isPresent()) {
            throw objection.get();
        }
        if (file.bytes() >= 0 && out.size() < file.bytes()) {
            throw new IOException("the body ended after " + out.size() + " of " + file.bytes() + " bytes");
        }
    }
}
