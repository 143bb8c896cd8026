package io.roseinfer.hub.download;

import io.roseinfer.base.Quoted;
import io.roseinfer.base.RoseException.BadModel;
import io.roseinfer.hub.cache.HubId;
import java.net.http.HttpResponse;

/** Says what a refusal of the hub means and what to do about it. */
final class HubRefusal {
    private final HubSettings settings;
    private final HubId id;

    HubRefusal(HubSettings settings, HubId id) {
        this.settings = settings;
        this.id = id;
    }

    /** The error for an answer that is no success, no redirect and not worth another attempt. */
    BadModel of(String file, HttpResponse<?> response) {
        String code = response.headers().firstValue("x-error-code").orElse("");
        return new BadModel("model " + id + ": " + Quoted.name(file) + " cannot be downloaded from "
                + settings.endpoint() + ": " + remedy(response.statusCode(), code) + serverMessage(response));
    }

    private String remedy(int status, String code) {
        String page = settings.endpoint() + "/" + id.text();
        return switch (status) {
            case 401 ->
                settings.token().isPresent()
                        ? "401, HF_TOKEN was not accepted; check that it is valid and may read " + page
                        : "401, the repository does not exist or is private; check the id, or set HF_TOKEN to a token that may"
                                + " read it";
            case 403 ->
                code.equals("GatedRepo")
                        ? "403, the repository is gated; ask for access at " + page + " and set HF_TOKEN"
                        : "403, access is forbidden; check that HF_TOKEN may read " + page;
            case 404 ->
                switch (code) {
                    case "RepoNotFound" -> "404, there is no such repository; check the id";
                    case "RevisionNotFound" -> "404, the repository has no branch, tag or commit " + id.revision();
                    case "EntryNotFound" -> "404, the repository has no such file; is it a transformers model?";
                    default -> "404, no such repository or file; check the id and HF_ENDPOINT";
                };
            default -> "the server answered " + status;
        };
    }

    private static String serverMessage(HttpResponse<?> response) {
        return response.headers()
                .firstValue("x-error-message")
                .map(message -> " (the server says: " + Quoted.name(message) + ")")
                .orElse("");
    }
}
