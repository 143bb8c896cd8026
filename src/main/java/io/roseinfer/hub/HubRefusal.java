package io.roseinfer.hub;

import io.roseinfer.base.Quoted;
import io.roseinfer.base.RoseException.BadModel;
import java.net.http.HttpResponse;

/**
 * The errors for responses of the hub, with remedies.
 *
 * @param id the requested repository
 */
record HubRefusal(HubSettings settings, HubId id) {
    private static final String SET_TOKEN =
            "set HF_TOKEN to a token with read access, and unset HF_HUB_DISABLE_IMPLICIT_TOKEN";

    /** Returns the error for a response that is neither a success nor a redirect, and not worth another attempt. */
    BadModel of(String file, HttpResponse<?> response) {
        String code = response.headers().firstValue("x-error-code").orElse("");
        return new BadModel("model " + id + ": " + Quoted.name(file) + " cannot be downloaded from "
                + settings.endpoint() + ": " + remedy(response.statusCode(), code) + serverMessage(response));
    }

    /**
     * Returns the remedy. The hub's error code is more specific than the status: a gated repository may return 401 or
     * 403.
     */
    private String remedy(int status, String code) {
        boolean hasToken = settings.token().isPresent();
        String page = settings.endpoint() + "/" + id.text();
        String known =
                switch (code) {
                    case "GatedRepo" ->
                        "the repository is gated; request access at " + page
                                + (hasToken ? " with the account of the token" : " and " + SET_TOKEN);
                    case "RepoNotFound" ->
                        "the repository does not exist or is private; check the id, or "
                                + (hasToken ? "use a token with read access" : SET_TOKEN);
                    case "RevisionNotFound" -> "the repository has no branch, tag or commit " + id.revision();
                    case "EntryNotFound" ->
                        "the repository has no such file; only transformers models are supported, not GGUF files and LoRA adapters";
                    default -> "";
                };
        if (!known.isEmpty()) {
            return status + ", " + known;
        }
        return switch (status) {
            case 401 ->
                hasToken
                        ? "401, HF_TOKEN was rejected; check that it is valid and has read access to " + page
                        : remedy(status, "RepoNotFound");
            case 403 -> "403, access is forbidden; check that HF_TOKEN has read access to " + page;
            case 404 -> "404, no such repository or file; check the id and HF_ENDPOINT";
            default -> "the server returned " + status;
        };
    }

    private static String serverMessage(HttpResponse<?> response) {
        return response.headers()
                .firstValue("x-error-message")
                .map(message -> " (the server says: " + Quoted.name(message) + ")")
                .orElse("");
    }
}
