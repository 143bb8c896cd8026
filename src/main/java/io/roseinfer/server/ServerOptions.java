package io.roseinfer.server;

import io.roseinfer.base.RoseException.BadInput;
import io.roseinfer.server.api.CallLimits;
import io.roseinfer.server.api.ServedModel;
import io.roseinfer.server.http.HttpLimits;
import java.util.Objects;
import java.util.Optional;

/**
 * The options of a server.
 *
 * @param host the address to listen on
 * @param port the port, or 0 for a free one
 * @param model the served model
 * @param version the version that {@code /version} returns
 * @param apiKey the key that clients must send; without one every client is served
 * @param callLimits limits per call
 * @param http limits per client
 * @param logprobBytes maximum heap for the log-probabilities of all calls in flight; beyond it the response is 503, or
 *     400 if the call alone exceeds it
 */
public record ServerOptions(
        String host,
        int port,
        ServedModel model,
        String version,
        Optional<ApiKey> apiKey,
        CallLimits callLimits,
        HttpLimits http,
        long logprobBytes) {

    /** The highest port. */
    public static final int MAX_PORT = 65_535;

    private static final int LOGPROB_SHARE = 4;

    public ServerOptions {
        Objects.requireNonNull(host, "host");
        Objects.requireNonNull(model, "model");
        Objects.requireNonNull(version, "version");
        Objects.requireNonNull(apiKey, "apiKey");
        Objects.requireNonNull(callLimits, "callLimits");
        Objects.requireNonNull(http, "http");
        if (port < 0 || port > MAX_PORT) {
            throw new BadInput("the port is " + port + "; it must be 0 to " + MAX_PORT);
        }
        if (logprobBytes < 0) {
            throw new BadInput("the heap for log-probabilities is " + logprobBytes + " bytes; it must be 0 or more");
        }
    }

    /** Returns options for loopback and a free port, without a key or limits of calls. A quarter of the heap is for log-probabilities. */
    public static ServerOptions of(String modelName, String version) {
        return new ServerOptions(
                "127.0.0.1",
                0,
                ServedModel.named(modelName),
                version,
                Optional.empty(),
                CallLimits.NONE,
                HttpLimits.defaults(),
                Runtime.getRuntime().maxMemory() / LOGPROB_SHARE);
    }

    /** Returns the model's name in the API. */
    public String modelName() {
        return model.name();
    }

    public ServerOptions withModel(ServedModel value) {
        return new ServerOptions(host, port, value, version, apiKey, callLimits, http, logprobBytes);
    }

    public ServerOptions withAddress(String newHost, int newPort) {
        return new ServerOptions(newHost, newPort, model, version, apiKey, callLimits, http, logprobBytes);
    }

    public ServerOptions withApiKey(ApiKey value) {
        return new ServerOptions(host, port, model, version, Optional.of(value), callLimits, http, logprobBytes);
    }

    public ServerOptions withCallLimits(CallLimits value) {
        return new ServerOptions(host, port, model, version, apiKey, value, http, logprobBytes);
    }

    public ServerOptions withHttp(HttpLimits value) {
        return new ServerOptions(host, port, model, version, apiKey, callLimits, value, logprobBytes);
    }

    public ServerOptions withLogprobBytes(long value) {
        return new ServerOptions(host, port, model, version, apiKey, callLimits, http, value);
    }
}
