package io.roseinfer.bench.http;

import io.roseinfer.base.Quoted;
import io.roseinfer.base.RoseException.BadInput;
import io.roseinfer.base.StrictJson;
import io.roseinfer.bench.load.JsonlPrompts;
import io.roseinfer.bench.load.OfferedRequest;
import io.roseinfer.engine.Prompt;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.net.InetSocketAddress;
import java.net.URI;
import java.net.URISyntaxException;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalInt;
import java.util.Set;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import tools.jackson.core.JacksonException;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.node.ArrayNode;
import tools.jackson.databind.node.MissingNode;
import tools.jackson.databind.node.ObjectNode;

/**
 * An endpoint of an OpenAI-compatible server, with request options.
 *
 * @param base {@code http://HOST:PORT}, optionally with a path before {@code /v1}
 * @param kind completions or chat
 * @param model name of the model; if empty, requests name none
 * @param apiKey bearer token
 * @param ask options of all requests
 */
public record Endpoint(URI base, Kind kind, String model, Optional<String> apiKey, Ask ask) {
    private static final Duration PATIENCE = Duration.ofSeconds(10);

    /** Key that makes the prompt of the unmeasured probe differ from the prompts of the load. */
    private static final long PROBE = 0x50524f4245L;

    /** The two endpoints that stream tokens. */
    public enum Kind {
        COMPLETIONS("/v1/completions"),
        CHAT("/v1/chat/completions");

        private final String path;

        Kind(String path) {
            this.path = path;
        }
    }

    /**
     * The options of all requests.
     *
     * @param temperature sampling temperature; 0 is greedy
     * @param ignoreEos whether to continue after end-of-text
     * @param runningUsage whether to request the usage so far in each event
     * @param tokenIds whether to request token ids in each event
     * @param stamps whether to request the server's timestamps; servers without them ignore this
     * @param more further headers and fields
     */
    public record Ask(
            double temperature,
            boolean ignoreEos,
            boolean runningUsage,
            boolean tokenIds,
            boolean stamps,
            Additions more) {
        /** Creates options without further headers and fields. */
        public Ask(double temperature, boolean ignoreEos, boolean runningUsage, boolean tokenIds, boolean stamps) {
            this(temperature, ignoreEos, runningUsage, tokenIds, stamps, Additions.NONE);
        }

        private Ask withCounts(boolean usage, boolean ids) {
            return new Ask(temperature, ignoreEos, usage, ids, stamps, more);
        }
    }

    /**
     * Headers and fields added to every request of a load.
     *
     * @param headers values by name
     * @param fields members of the body
     */
    public record Additions(Map<String, String> headers, ObjectNode fields) {
        /** No additions. */
        public static final Additions NONE =
                new Additions(Map.of(), StrictJson.mapper().createObjectNode());

        /** Headers that requests have themselves. */
        private static final Set<String> OWN_HEADERS = Set.of(
                "host",
                "content-type",
                "content-length",
                "transfer-encoding",
                "connection",
                "expect",
                "upgrade",
                "accept",
                "accept-encoding",
                "x-request-id",
                "x-roseinfer-stamps");

        /** Fields that requests have themselves, and that would change what is measured. */
        private static final Set<String> OWN_FIELDS = Set.of(
                "model",
                "prompt",
                "messages",
                "max_tokens",
                "max_completion_tokens",
                "temperature",
                "stream",
                "stream_options",
                "ignore_eos",
                "return_token_ids",
                "n");

        private static final Pattern HEADER = Pattern.compile("([!#$%&'*+.^_`|~0-9A-Za-z-]+)=([\\x20-\\x7e]*)");

        /**
         * Parses {@code --header} and {@code --extra-body}.
         *
         * @param headers each as {@code NAME=VALUE}
         * @param body a JSON object; empty for none
         * @throws BadInput if one is malformed, or is already in every request
         */
        public static Additions parse(List<String> headers, Optional<String> body) {
            Map<String, String> parsed = new LinkedHashMap<>();
            for (String header : headers) {
                Matcher matcher = HEADER.matcher(header);
                if (!matcher.matches()) {
                    throw new BadInput("--header is '" + header + "'; it must be NAME=VALUE, in ASCII");
                }
                if (OWN_HEADERS.contains(matcher.group(1).toLowerCase(Locale.ROOT))) {
                    throw new BadInput(
                            "--header sets " + matcher.group(1) + ", which requests have already; leave it out");
                }
                parsed.put(matcher.group(1), matcher.group(2));
            }
            return new Additions(parsed, body.map(Additions::fields).orElse(NONE.fields));
        }

        private static ObjectNode fields(String body) {
            JsonNode node;
            try {
                node = StrictJson.parse(body.getBytes(StandardCharsets.UTF_8));
            } catch (JacksonException e) {
                throw new BadInput("--extra-body is not JSON: " + StrictJson.reason(e), e);
            }
            if (!(node instanceof ObjectNode fields)) {
                throw new BadInput("--extra-body is " + Quoted.value(body) + "; it must be a JSON object");
            }
            fields.propertyNames().stream()
                    .filter(OWN_FIELDS::contains)
                    .findFirst()
                    .ifPresent(name -> {
                        throw new BadInput("--extra-body sets " + name
                                + ", which requests have already; use the flag for it, or leave it out");
                    });
            return fields;
        }
    }

    /** Parses {@code --base-url}. */
    public static URI uri(String text) {
        try {
            URI uri = new URI(text);
            if ("http".equals(uri.getScheme()) && uri.getHost() != null && uri.getRawQuery() == null) {
                return uri;
            }
        } catch (URISyntaxException e) {
            // Reported below.
        }
        throw new BadInput("--base-url is '" + text + "'; it must be http://HOST:PORT, as in http://127.0.0.1:8000"
                + " (https is not supported: TLS would be part of the measurement)");
    }

    /**
     * A model of a server.
     *
     * @param name its name; empty if unknown
     * @param contextLength its context length; empty if unknown
     */
    public record ServedModel(String name, OptionalInt contextLength) {}

    /** Requests the first model of a server, on a separate connection before any measurement. */
    public static ServedModel firstModel(URI base, Optional<String> apiKey) {
        JsonNode model = get(base, apiKey, "/v1/models")
                .map(models -> models.path("data").path(0))
                .orElse(MissingNode.getInstance());
        JsonNode length = model.path("max_model_len");
        boolean says = length.canConvertToInt() && length.intValue() > 0;
        return new ServedModel(
                model.path("id").asString(""), says ? OptionalInt.of(length.intValue()) : OptionalInt.empty());
    }

    /** Requests JSON from a path of the server, on a separate connection; empty if it is not available. */
    Optional<JsonNode> get(String path) {
        return get(base, apiKey, path);
    }

    private static Optional<JsonNode> get(URI base, Optional<String> apiKey, String path) {
        try {
            return response(request(base, apiKey, path))
                    .filter(response -> response.statusCode() == 200)
                    .map(response -> StrictJson.parse(response.body()));
        } catch (JacksonException unknown) {
            return Optional.empty();
        }
    }

    private static HttpRequest.Builder request(URI base, Optional<String> apiKey, String path) {
        HttpRequest.Builder request =
                HttpRequest.newBuilder(URI.create("http://" + base.getRawAuthority() + prefix(base) + path));
        apiKey.ifPresent(key -> request.header("Authorization", "Bearer " + key));
        return request;
    }

    private static Optional<HttpResponse<byte[]>> response(HttpRequest.Builder request) {
        try (HttpClient client = HttpClient.newBuilder()
                .version(HttpClient.Version.HTTP_1_1)
                .connectTimeout(PATIENCE)
                .build()) {
            return Optional.of(client.send(request.timeout(PATIENCE).build(), HttpResponse.BodyHandlers.ofByteArray()));
        } catch (IOException unknown) {
            return Optional.empty();
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            return Optional.empty();
        }
    }

    /**
     * Returns this endpoint with only those token count options that the server accepts, because some servers reject unknown fields. Sends
     * requests of one token to find out, before any measurement.
     *
     * @param like a request of the load; its prompt is not sent
     */
    public Endpoint accepted(OfferedRequest like) {
        boolean usage = ask.runningUsage();
        boolean ids = ask.tokenIds();
        OfferedRequest request = OfferedRequest.of(0, like.withOtherIds(PROBE).prompt(), 1);
        if ((!usage && !ids) || !isRefused(request)) {
            return this;
        }
        return Stream.of(ask.withCounts(usage, false), ask.withCounts(false, ids), ask.withCounts(false, false))
                .filter(fewer -> !fewer.equals(ask))
                .map(fewer -> new Endpoint(base, kind, model, apiKey, fewer))
                .filter(endpoint -> !endpoint.isRefused(request))
                .findFirst()
                .orElse(this);
    }

    /** Returns the names of the fields in requests to this endpoint but not to another. */
    public List<String> countsBeyond(Endpoint other) {
        List<String> fields = new ArrayList<>();
        if (ask.tokenIds() && !other.ask.tokenIds()) {
            fields.add("return_token_ids");
        }
        if (ask.runningUsage() && !other.ask.runningUsage()) {
            fields.add("continuous_usage_stats");
        }
        return fields;
    }

    private boolean isRefused(OfferedRequest like) {
        HttpRequest.Builder request = request(base, apiKey, kind.path).header("Content-Type", "application/json");
        ask.more().headers().forEach(request::setHeader);
        request.POST(HttpRequest.BodyPublishers.ofByteArray(body(like)));
        return response(request)
                .map(response -> response.statusCode() == 400 || response.statusCode() == 422)
                .orElse(false);
    }

    /** Returns the address of the server. */
    InetSocketAddress address() {
        return new InetSocketAddress(base.getHost(), base.getPort() < 0 ? 80 : base.getPort());
    }

    private static String prefix(URI base) {
        String path = base.getRawPath() == null ? "" : base.getRawPath().replaceFirst("/+$", "");
        return path.endsWith("/v1") ? path.substring(0, path.length() - "/v1".length()) : path;
    }

    /** Returns the bytes of an HTTP request. */
    byte[] bytes(OfferedRequest request, String id) {
        return post(prefix(base) + kind.path, body(request), id);
    }

    private byte[] post(String path, byte[] body, String id) {
        String head = "POST " + path + " HTTP/1.1\r\nHost: " + base.getRawAuthority()
                + "\r\nContent-Type: application/json\r\nAccept: text/event-stream\r\nAccept-Encoding: identity\r\nX-Request-Id: "
                + id
                + (ask.stamps() ? "\r\nX-Roseinfer-Stamps: 1" : "")
                + apiKey.filter(key ->
                                ask.more().headers().keySet().stream().noneMatch("Authorization"::equalsIgnoreCase))
                        .map(key -> "\r\nAuthorization: Bearer " + key)
                        .orElse("")
                + ask.more().headers().entrySet().stream()
                        .map(header -> "\r\n" + header.getKey() + ": " + header.getValue())
                        .collect(Collectors.joining())
                + "\r\nContent-Length: "
                + body.length + "\r\n\r\n";
        ByteArrayOutputStream all = new ByteArrayOutputStream(head.length() + body.length);
        all.writeBytes(head.getBytes(StandardCharsets.US_ASCII));
        all.writeBytes(body);
        return all.toByteArray();
    }

    private byte[] body(OfferedRequest request) {
        ObjectNode node = StrictJson.mapper().createObjectNode();
        if (!model.isEmpty()) {
            node.put("model", model);
        }
        switch (request.prompt()) {
            case Prompt.Tokens tokens -> ids(node, tokens);
            case Prompt.Text text -> text(node, text.text());
        }
        node.put("max_tokens", request.outputTokens())
                .put("temperature", ask.temperature())
                .put("stream", true);
        ObjectNode options = node.putObject("stream_options").put("include_usage", true);
        if (ask.ignoreEos()) {
            node.put("ignore_eos", true);
        }
        if (ask.runningUsage()) {
            options.put("continuous_usage_stats", true);
        }
        if (ask.tokenIds()) {
            node.put("return_token_ids", true);
        }
        request.traits().priority().ifPresent(priority -> node.put("priority", priority));
        request.traits().tenant().ifPresent(tenant -> node.put("user", tenant));
        node.setAll(ask.more().fields());
        request.constraints().ifPresent(fields -> constrain(node, fields));
        return StrictJson.mapper().writeValueAsBytes(node);
    }

    private void constrain(ObjectNode node, JsonNode fields) {
        if (kind != Kind.CHAT && fields.has(JsonlPrompts.TOOLS)) {
            throw new BadInput("--endpoint-type completions takes no tools, and the dataset has some; use"
                    + " --endpoint-type chat");
        }
        node.setAll((ObjectNode) fields);
    }

    private void ids(ObjectNode node, Prompt.Tokens tokens) {
        if (kind == Kind.CHAT) {
            throw new BadInput(
                    "--endpoint-type chat takes text, and these prompts are token ids; use --dataset jsonl or"
                            + " sharegpt with text, or --endpoint-type completions");
        }
        ArrayNode list = node.putArray("prompt");
        for (int id : tokens.ids()) {
            list.add(id);
        }
    }

    private void text(ObjectNode node, String text) {
        if (kind == Kind.CHAT) {
            node.putArray("messages").addObject().put("role", "user").put("content", text);
        } else {
            node.put("prompt", text);
        }
    }
}
