package io.roseinfer.cli.flags;

import io.roseinfer.bench.http.Endpoint;
import picocli.CommandLine.Option;

/** Which server is measured, and how it is asked. */
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

    static final class Backend extends Choices.Choice<Kind> {
        Backend() {
            super(Kind.class);
        }
    }

    static final class Type extends Choices.Choice<Endpoint.Kind> {
        Type() {
            super(Endpoint.Kind.class);
        }
    }

    @Option(
            names = "--backend",
            paramLabel = "<http|engine|null|sim>",
            defaultValue = "http",
            converter = Backend.class,
            description = {
                "http is the server at --base-url; engine is one in this process, without HTTP, of --model and the flags below it;",
                "null is a server in this process that only writes: what is measured then is the client;",
                "sim is the engine's scheduler on simulated time, whose steps take what --step-costs says."
            })
    private Kind backend = Kind.HTTP;

    @Option(names = "--base-url", paramLabel = "<URL>", description = "The server, as http://HOST:PORT.")
    private String baseUrl = "http://127.0.0.1:8000";

    @Option(
            names = "--endpoint-type",
            paramLabel = "<completions|chat>",
            defaultValue = "completions",
            converter = Type.class,
            description = "Which endpoint is asked.")
    private Endpoint.Kind endpointType = Endpoint.Kind.COMPLETIONS;

    @Option(names = "--ignore-eos", description = "Generate as many tokens as are asked for, whatever comes.")
    private boolean ignoreEos;

    @Option(
            names = "--temperature",
            paramLabel = "<T>",
            converter = Ranges.Temperature.class,
            description = "0 is greedy.")
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
        return backend;
    }

    public String baseUrl() {
        return baseUrl;
    }

    public Endpoint.Kind endpointType() {
        return endpointType;
    }

    /** What every request asks for. */
    public Endpoint.Ask ask() {
        return new Endpoint.Ask(temperature, ignoreEos, chunkCounts, serverStamps && backend == Kind.HTTP);
    }
}
