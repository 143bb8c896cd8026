package io.roseinfer.cli.flags;

import io.roseinfer.bench.http.Endpoint;
import io.roseinfer.engine.GenerationRequest;
import io.roseinfer.sampling.SamplingParams;
import java.util.Optional;
import picocli.CommandLine.Help.Visibility;
import picocli.CommandLine.ITypeConverter;
import picocli.CommandLine.Option;

/** Which server is measured, and how it is asked. */
@Heading("System under test")
public final class EndpointFlags {
    /** What answers. */
    public enum Kind {
        /** A server elsewhere. */
        HTTP,
        /** An engine in this process. */
        ENGINE,
        /** A server in this process that only writes. */
        NULL,
        /** A scheduler on simulated time. */
        SIM
    }

    /**
     * What answers, by our name for it or by one that {@code vllm bench serve} has.
     *
     * @param chat whether that name says which endpoint is asked
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
                "http is the server at --base-url (vllm and openai mean the same, openai-chat that and --endpoint-type chat);",
                "engine is one in this process, without HTTP, with the flags under Model, Device and Scheduling;",
                "null is a server in this process that only writes: what is measured then is the client;",
                "sim is the engine's scheduler on simulated time, whose steps take what --step-costs says",
                "(default: http with --base-url, else engine)."
            },
            showDefaultValue = Visibility.NEVER)
    private Optional<Backend> backend = Optional.empty();

    @Option(
            names = "--base-url",
            paramLabel = "<URL>",
            description =
                    "The server, as http://HOST:PORT (default: http://127.0.0.1:8000); its first model is asked, unless --model is"
                            + " given. The environment's OPENAI_API_KEY, if it is set, is the key that it is shown.",
            showDefaultValue = Visibility.NEVER)
    private Optional<String> baseUrl = Optional.empty();

    @Option(
            names = "--endpoint-type",
            paramLabel = "<completions|chat>",
            defaultValue = "completions",
            description = "Which endpoint is asked.")
    private Endpoint.Kind endpointType = Endpoint.Kind.COMPLETIONS;

    @Option(names = "--ignore-eos", description = "Generate as many tokens as are asked for, whatever comes.")
    private boolean ignoreEos;

    @Option(
            names = "--temperature",
            paramLabel = "<T>",
            preprocessor = Within.Check.class,
            description = "0 is greedy.")
    @Within(min = 0, max = SamplingParams.MAX_TEMPERATURE)
    private float temperature;

    @Option(
            names = "--chunk-counts",
            negatable = true,
            defaultValue = "true",
            fallbackValue = "true",
            description =
                    "Ask the server how many tokens each event has, by ids and usage; without that ITL needs events of one token each.")
    private boolean chunkCounts = true;

    @Option(
            names = "--server-stamps",
            negatable = true,
            defaultValue = "true",
            fallbackValue = "true",
            description =
                    "Ask the server for its own times of each request, as roseinfer serve knows them; others ignore it.")
    private boolean serverStamps = true;

    public Kind backend() {
        return backend.map(Backend::kind).orElse(baseUrl.isPresent() ? Kind.HTTP : Kind.ENGINE);
    }

    public String baseUrl() {
        return baseUrl.orElse("http://127.0.0.1:8000");
    }

    public Endpoint.Kind endpointType() {
        return backend.map(Backend::chat).orElse(false) ? Endpoint.Kind.CHAT : endpointType;
    }

    /** What every request to an engine in this process is like but for its prompt and length. */
    public GenerationRequest template() {
        return GenerationRequest.ofTokens(0)
                .withSampling(
                        temperature == 0
                                ? SamplingParams.greedy()
                                : SamplingParams.random().withTemperature(temperature))
                .withIgnoreEndOfText(ignoreEos);
    }

    /** What every request to a server asks for. */
    public Endpoint.Ask ask() {
        return new Endpoint.Ask(
                temperature, ignoreEos, chunkCounts, chunkCounts, serverStamps && backend() == Kind.HTTP);
    }
}
