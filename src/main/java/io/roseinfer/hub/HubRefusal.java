package io.roseinfer.hub;

import io.roseinfer.base.Quoted;
import io.roseinfer.base.RoseException.BadModel;
import java.net.http.HttpResponse;

/**
 * The errors for refusals of the hub: the meaning of each and its remedy.
 *
 * @param id the repository that was asked for
 */
record HubRefusal(HubSettings settings, HubId id) {
    private static final String SET_TOKEN =
            "set HF_TOKEN to a token that may read it, without HF_HUB_DISABLE_IMPLICIT_TOKEN";

    /** Returns the error for a answer that is no success, no redirect and not worth another attempt. */
    BadModel of(String file, HttpResponse<?> response) {
        String code = response.headers().firstValue("x-error-code").orElse("");
        return new BadModel("model " + id + ": " + Quoted.name(file) + " cannot be downloaded from "
                + settings.endpoint() + ": " + remedy(response.statusCode(), code) + serverMessage(response));
    }

    /** Returns what to do. The hub's error code says more than the status: a gated repository may answer 401 or 403. */
    private String remedy(int status, String code) {
        boolean hasToken = settings.token().isPresent();
        String page = settings.endpoint() + "/" + id.text();
        String known =
                switch (code) {
                    case "GatedRepo" ->
                        "the repository is gated; ask for access at " + page
                                + (hasToken ? " with the account of the token" : " and " + SET_TOKEN);
                    case "RepoNotFound" ->
                        "there is no such repository, or it is private; check the id, or "
                                + (hasToken ? "use a token that may read it" : SET_TOKEN);
                    case "RevisionNotFound" -> "the repository has no branch, tag or commit " + id.revision();
                    case "EntryNotFound" ->
                        "the repository has no such file; is it a transformers model? GGUF files and LoRA adapters are not read";
                    default -> "";
                };
        if (!known.isEmpty()) {
            return status + ", " + known;
        }
        return switch (status) {
            case 401 ->
                hasToken
                        ? "401, HF_TOKEN was not accepted; check that it is valid and may read " + page
                        : remedy(status, "RepoNotFound");
            case 403 -> "403, access is forbidden; check that HF_TOKEN may read " + page;
            case 404 -> "404, no such repository or file; check the id and HF_ENDPOINT";
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
