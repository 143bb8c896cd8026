package io.roseinfer.hub;

import io.roseinfer.base.Quoted;
import io.roseinfer.base.RoseException.BadModel;
import java.io.IOException;
import java.net.URI;
import java.net.URISyntaxException;
import java.net.http.HttpHeaders;
import java.net.http.HttpResponse;
import java.util.Optional;

/**
 * Requests metadata of one repository's files. The hub answers a HEAD for a small file and redirects one for a large
 * file to a store; the redirect has the metadata of a large file: {@code X-Linked-Etag}, {@code X-Linked-Size}.
 */
final class RemoteFiles {
    private final HubClient client;
    private final HubId id;

    RemoteFiles(HubClient client, HubId id) {
        this.client = client;
        this.id = id;
    }

    /** Returns the file, if the repository has it at this revision. */
    Optional<RemoteFile> find(String revision, String file, int maxAttempts) {
        HeadResult head = ask(revision, file, maxAttempts);
        boolean absent = head.response().statusCode() == 404
                && !head.response()
                        .headers()
                        .firstValue("x-error-code")
                        .orElse("")
                        .matches("RepoNotFound|RevisionNotFound");
        return absent ? Optional.empty() : Optional.of(describe(revision, file, head));
    }

    /** Returns the file, which the repository must have. */
    RemoteFile require(String revision, String file) {
        return describe(revision, file, ask(revision, file, HubClient.MAX_ATTEMPTS));
    }

    /**
     * The hub's response.
     *
     * @param response the last response
     * @param metadata the headers of the first redirect that describes a linked file, or else of the last response
     */
    private record HeadResult(HttpResponse<Void> response, HttpHeaders metadata, boolean redirected) {}

    private HeadResult ask(String revision, String file, int maxAttempts) {
        URI address = address(revision, file);
        return client.retry(id, file, maxAttempts, () -> 0, () -> ask(address));
    }

    private HeadResult ask(URI address) throws IOException, InterruptedException {
        URI current = address;
        Optional<HttpHeaders> linked = Optional.empty();
        for (int hop = 0; hop < HubClient.MAX_HOPS; hop++) {
            HttpResponse<Void> response = client.head(current);
            HubClient.requireLasting(response);
            if (linked.isEmpty()
                    && response.headers().firstValue("x-linked-etag").isPresent()) {
                linked = Optional.of(response.headers());
            }
            Optional<URI> target = HubClient.redirect(current, response);
            if (target.isEmpty() || !client.isHub(target.get())) {
                return new HeadResult(response, linked.orElse(response.headers()), target.isPresent());
            }
            current = target.get();
        }
        throw new BadModel("model " + id + ": " + client.endpoint() + " redirects in circles; check HF_ENDPOINT");
    }

    private RemoteFile describe(String revision, String file, HeadResult head) {
        if (head.response().statusCode() != 200 && !head.redirected()) {
            throw client.refusal(id, file, head.response());
        }
        String commit = head.response()
                .headers()
                .firstValue("x-repo-commit")
                .or(() -> head.metadata().firstValue("x-repo-commit"))
                .orElseThrow(() -> unusable(file, "no X-Repo-Commit header"));
        if (!CacheFolder.isCommit(commit) || (CacheFolder.isCommit(revision) && !commit.equals(revision))) {
            throw unusable(file, "an unexpected commit, " + Quoted.name(commit));
        }
        String tag = head.metadata()
                .firstValue("x-linked-etag")
                .or(() -> head.metadata().firstValue("etag"))
                .orElseThrow(() -> unusable(file, "no ETag header"));
        Etag etag = Etag.parse(tag).orElseThrow(() -> unusable(file, "an invalid ETag, " + Quoted.name(tag)));
        return new RemoteFile(file, address(commit, file), commit, etag, size(file, head));
    }

    /** Returns the linked size, or the length of the file itself, but not that of a redirect's body. */
    private long size(String file, HeadResult head) {
        Optional<String> size = head.metadata().firstValue("x-linked-size");
        if (size.isEmpty() && !head.redirected()) {
            size = head.response().headers().firstValue("content-length");
        }
        if (size.isEmpty()) {
            return -1;
        }
        if (!size.get().matches("[0-9]{1,18}")) {
            throw unusable(file, "an invalid size, " + Quoted.name(size.get()));
        }
        return Long.parseLong(size.get());
    }

    private BadModel unusable(String file, String what) {
        return new BadModel("model " + id + ": " + client.endpoint() + " responds for " + Quoted.name(file) + " with "
                + what + "; it does not behave like a Hugging Face hub, check HF_ENDPOINT");
    }

    private URI address(String revision, String file) {
        try {
            // A slash within a revision is not a separator.
            String place = client.endpoint() + "/" + id.text() + "/resolve/" + revision.replace("/", "%2F");
            return URI.create(place + new URI(null, null, "/" + file, null).toASCIIString());
        } catch (URISyntaxException e) {
            throw new BadModel("model " + id + ": " + Quoted.name(file) + " is not a valid file name", e);
        }
    }
}
