package io.roseinfer.cli.flags;

import io.roseinfer.bench.http.Endpoint;
import io.roseinfer.engine.GenerationRequest;
import io.roseinfer.sampling.SamplingParams;
import java.util.List;
import java.util.Optional;
import picocli.CommandLine.Help.Visibility;
import picocli.CommandLine.ITypeConverter;
import picocli.CommandLine.Option;

/** Flags for the system under test and its requests. */
@Heading("System under test")
public final class EndpointFlags {
    /** The kind of system under test. */
    public enum Kind {
        /** A server at a URL. */
        HTTP,
        /** An engine in this process. */
        ENGINE,
        /** A server in this process that only writes. */
        NULL,
        /** A scheduler in simulated time. */
        SIM
    }

    /**
     * A value of {@code --backend}: a kind, or a name of {@code vllm bench serve}.
     *
     * @param chat whether the name implies the chat endpoint
     */
    record Backend(Kind kind, boolean chat) {
        @Override
        public String toString() {
            return Choices.word(kind);
        }
    }

    static final class BackendName implements ITypeConverter<Backend> {
        @Override
        public Backend convert(String text) {
            return switch (text) {
                case "vllm", "openai" -> new Backend(Kind.HTTP, false);
                case "openai-chat" -> new Backend(Kind.HTTP, true);
                default -> new Backend(Choices.read(Kind.class, text), false);
            };
        }
    }

    @Option(
            names = "--backend",
            paramLabel = "<http|engine|null|sim>",
            converter = BackendName.class,
            description = {
                "http: the server at --base-url (aliases: vllm, openai; openai-chat implies --endpoint-type chat);",
                "engine: an engine in this process, without HTTP, set up by the flags under Model, Device and Scheduling;",
                "null: a server in this process that only writes, to measure the client itself;",
                "sim: the engine's scheduler in simulated time, with the step times of --step-costs",
                "(default: http with --base-url, else engine)."
            },
            showDefaultValue = Visibility.NEVER)
    private Optional<Backend> backend = Optional.empty();

    @Option(
            names = "--base-url",
            paramLabel = "<URL>",
            description =
                    "URL of the server, http://HOST:PORT (default: http://127.0.0.1:8000). Without --model, requests go to its first model."
                            + " The API key is OPENAI_API_KEY of the environment, if set.",
            showDefaultValue = Visibility.NEVER)
    private Optional<String> baseUrl = Optional.empty();

    @Option(
            names = "--endpoint-type",
            paramLabel = "<completions|chat>",
            defaultValue = "completions",
            description = "Endpoint that requests are sent to.")
    private Endpoint.Kind endpointType = Endpoint.Kind.COMPLETIONS;

    @Option(names = "--ignore-eos", description = "Ignore end-of-text; generate the requested number of tokens.")
    private boolean ignoreEos;

    @Option(
            names = "--temperature",
            paramLabel = "<T>",
            preprocessor = Within.Check.class,
            description = "Sampling temperature; 0 is greedy.")
    @Within(min = 0, max = SamplingParams.MAX_TEMPERATURE)
    private float temperature;

    @Option(
            names = "--chunk-counts",
            negatable = true,
            defaultValue = "true",
            fallbackValue = "true",
            description =
                    "Ask the server for the number of tokens in each event (token ids, usage); without it, ITL requires one token per event.")
    private boolean chunkCounts = true;

    @Option(
            names = "--server-stamps",
            negatable = true,
            defaultValue = "true",
            fallbackValue = "true",
            description =
                    "Ask the server for its timestamps of each request; roseinfer serve sends them, other servers ignore this.")
    private boolean serverStamps = true;

    @Option(
            names = "--header",
            paramLabel = "<NAME=VALUE>",
            description = "Header added to each request; can be repeated.",
            showDefaultValue = Visibility.NEVER)
    private List<String> headers = List.of();

    @Option(
            names = "--extra-body",
            paramLabel = "<JSON>",
            description = "Fields added to each request's body, as in '{\"top_k\": 5}'.",
            showDefaultValue = Visibility.NEVER)
    private Optional<String> extraBody = Optional.empty();

    public Kind backend() {
        return backend.map(Backend::kind).orElse(baseUrl.isPresent() ? Kind.HTTP : Kind.ENGINE);
    }

    public String baseUrl() {
        return baseUrl.orElse("http://127.0.0.1:8000");
    }

    public Endpoint.Kind endpointType() {
        return backend.map(Backend::chat).orElse(false) ? Endpoint.Kind.CHAT : endpointType;
    }

    /** Returns the template of requests to an in-process engine; prompt and length are replaced. */
    public GenerationRequest template() {
        return GenerationRequest.ofTokens(0)
                .withSampling(
                        temperature == 0
                                ? SamplingParams.greedy()
                                : SamplingParams.random().withTemperature(temperature))
                .withIgnoreEndOfText(ignoreEos);
    }

    /** Returns the options of requests to a server. */
    public Endpoint.Ask ask() {
        return new Endpoint.Ask(
                temperature,
                ignoreEos,
                chunkCounts,
                chunkCounts,
                serverStamps && backend() == Kind.HTTP,
                Endpoint.Additions.parse(headers, extraBody));
    }
}
