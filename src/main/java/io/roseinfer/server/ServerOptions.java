package io.roseinfer.server;

import io.roseinfer.base.RoseException.BadInput;
import io.roseinfer.sampling.SamplingDefaults;
import io.roseinfer.server.http.HttpLimits;
import io.roseinfer.tokenizer.chat.ChatTemplate;
import java.time.Duration;
import java.util.Objects;
import java.util.Optional;

/**
 * How a server listens and whom it serves.
 *
 * @param host the address to listen on
 * @param port 0 takes a free one
 * @param model what is served
 * @param version what {@code /version} says
 * @param apiKey without one everybody is served who can connect
 * @param requestTimeout ends requests that take longer, waiting included; a client may ask for less
 * @param http what one client may take
 */
public record ServerOptions(
        String host,
        int port,
        ServedModel model,
        String version,
        Optional<ApiKey> apiKey,
        Optional<Duration> requestTimeout,
        HttpLimits http) {

    public ServerOptions {
        Objects.requireNonNull(host, "host");
        Objects.requireNonNull(model, "model");
        Objects.requireNonNull(version, "version");
        Objects.requireNonNull(apiKey, "apiKey");
        Objects.requireNonNull(requestTimeout, "requestTimeout");
        Objects.requireNonNull(http, "http");
        if (port < 0 || port > 65_535) {
            throw new BadInput("the port is " + port + "; it must be 0 to 65535");
        }
    }

    /** On loopback and a free port, without a key or a timeout. */
    public static ServerOptions of(String modelName, String version) {
        return new ServerOptions(
                "127.0.0.1",
                0,
                ServedModel.named(modelName),
                version,
                Optional.empty(),
                Optional.empty(),
                HttpLimits.defaults());
    }

    /** What clients call the model. */
    public String modelName() {
        return model.name();
    }

    public ServerOptions withModel(ServedModel value) {
        return new ServerOptions(host, port, value, version, apiKey, requestTimeout, http);
    }

    public ServerOptions withAddress(String newHost, int newPort) {
        return new ServerOptions(newHost, newPort, model, version, apiKey, requestTimeout, http);
    }

    public ServerOptions withApiKey(ApiKey value) {
        return new ServerOptions(host, port, model, version, Optional.of(value), requestTimeout, http);
    }

    public ServerOptions withRequestTimeout(Duration value) {
        return new ServerOptions(host, port, model, version, apiKey, Optional.of(value), http);
    }

    public ServerOptions withHttp(HttpLimits value) {
        return new ServerOptions(host, port, model, version, apiKey, requestTimeout, value);
    }

    /**
     * What a server knows of its model beside the engine.
     *
     * @param name what clients call it
     * @param chat how it wants conversations written; without one there is no chat
     * @param defaults for the fields that a request leaves out
     */
    public record ServedModel(String name, Optional<ChatTemplate> chat, SamplingDefaults defaults) {
        public ServedModel {
            Objects.requireNonNull(name, "name");
            Objects.requireNonNull(chat, "chat");
            Objects.requireNonNull(defaults, "defaults");
        }

        /** A model that cannot chat. */
        public static ServedModel named(String name) {
            return new ServedModel(name, Optional.empty(), SamplingDefaults.NONE);
        }

        public ServedModel withChat(Optional<ChatTemplate> value) {
            return new ServedModel(name, value, defaults);
        }

        public ServedModel withDefaults(SamplingDefaults value) {
            return new ServedModel(name, chat, value);
        }
    }
}
