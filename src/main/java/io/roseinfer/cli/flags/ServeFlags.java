package io.roseinfer.cli.flags;

import com.sun.management.UnixOperatingSystemMXBean;
import io.roseinfer.base.FileFailure;
import io.roseinfer.base.RoseException.BadInput;
import io.roseinfer.base.RoseException.BadModel;
import io.roseinfer.cli.terminal.Terminal;
import io.roseinfer.engine.EngineOptions;
import io.roseinfer.scheduler.SchedulerOptions;
import io.roseinfer.server.AccessLog;
import io.roseinfer.server.ApiKey;
import io.roseinfer.server.ServerOptions;
import io.roseinfer.server.api.CallLimits;
import io.roseinfer.server.http.HttpLimits;
import java.io.IOException;
import java.lang.management.ManagementFactory;
import java.net.InetAddress;
import java.net.UnknownHostException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Optional;
import picocli.CommandLine.Help.Visibility;
import picocli.CommandLine.Option;

/** Flags for a server's address, limits and access. */
@Heading("Server")
public final class ServeFlags {
    @Option(names = "--host", paramLabel = "<ADDRESS>", description = "Address to listen on.")
    private String host = "127.0.0.1";

    @Option(
            names = "--port",
            paramLabel = "<N>",
            preprocessor = Within.Check.class,
            description = "Port to listen on; 0 picks a free one.")
    @Within(min = 0, max = ServerOptions.MAX_PORT)
    private int port = 8000;

    @Option(
            names = "--api-key",
            paramLabel = "<KEY>",
            description = "Require this API key. It is visible in the process list: prefer --api-key-file.",
            showDefaultValue = Visibility.NEVER)
    private Optional<String> apiKey = Optional.empty();

    @Option(
            names = "--api-key-file",
            paramLabel = "<FILE>",
            description = "File with the API key on one line.",
            showDefaultValue = Visibility.NEVER)
    private Optional<Path> apiKeyFile = Optional.empty();

    @Option(
            names = "--served-model-name",
            paramLabel = "<NAME>",
            description = "Model name in the API (default: --model).",
            showDefaultValue = Visibility.NEVER)
    private Optional<String> servedModelName = Optional.empty();

    @Option(
            names = "--max-inflight-requests",
            paramLabel = "<N>",
            preprocessor = Within.Check.class,
            description = "Maximum in-flight completions; further ones are rejected with status 429.")
    @Within(min = 1)
    private int maxInflightRequests = 1024;

    @Option(
            names = "--max-connections",
            paramLabel = "<N>",
            preprocessor = Within.Check.class,
            description = "Maximum open connections; 64 more serve only /health, /ping and /metrics.")
    @Within(min = 1)
    private int maxConnections = HttpLimits.defaults().connections();

    @Option(
            names = "--request-timeout",
            paramLabel = "<SECONDS>",
            preprocessor = Within.Check.class,
            description = "Maximum duration of a completion, including queueing (default: no limit).",
            showDefaultValue = Visibility.NEVER)
    @Within(min = 1)
    private Optional<Integer> requestTimeout = Optional.empty();

    @Option(
            names = "--drain-seconds",
            paramLabel = "<N>",
            preprocessor = Within.Check.class,
            description = "Seconds that in-flight completions have to finish after SIGTERM.")
    @Within(min = 0)
    private int drainSeconds = 30;

    @Option(
            names = "--access-log",
            paramLabel = "<off|text|json>",
            defaultValue = "off",
            description =
                    "Log HTTP requests except successful probes to standard error, without prompts; text is logfmt.")
    private AccessLog.Format accessLog = AccessLog.Format.OFF;

    public AccessLog.Format accessLog() {
        return accessLog;
    }

    /** Returns the time that in-flight completions have to finish after SIGTERM. */
    public Duration drain() {
        return Duration.ofSeconds(drainSeconds);
    }

    /** Returns engine options with these flags applied. */
    public EngineOptions addTo(EngineOptions options) {
        return options.withMaxInflightRequests(maxInflightRequests);
    }

    /**
     * Returns the options of a server.
     *
     * @param model the model's name in the API unless {@code --served-model-name} is given
     */
    public ServerOptions options(String model, String version, Terminal terminal) {
        ServerOptions options = ServerOptions.of(servedModelName.orElse(model), version)
                .withAddress(host, port)
                .withCallLimits(CallLimits.NONE.withDuration(requestTimeout.map(Duration::ofSeconds)))
                .withHttp(HttpLimits.defaults().withConnections(maxConnections));
        return key(terminal).map(options::withApiKey).orElse(options);
    }

    /** Warns of a server without an API key that other machines can reach, and of limits that do not fit together. */
    public void warn(ServerOptions options, Terminal terminal) {
        if (options.apiKey().isEmpty() && !isLoopback()) {
            terminal.warning("--host " + host
                    + " is reachable from other machines and requires no API key; set one with --api-key-file");
        }
        requestTimeout
                .filter(seconds -> seconds > drainSeconds)
                .ifPresent(seconds -> terminal.warning("--drain-seconds " + drainSeconds
                        + " is less than --request-timeout " + seconds + ", so a shutdown can cut off completions"));
        if (ManagementFactory.getOperatingSystemMXBean() instanceof UnixOperatingSystemMXBean system
                && system.getMaxFileDescriptorCount() < maxConnections) {
            terminal.warning("--max-connections " + maxConnections + " exceeds the limit of open files, "
                    + system.getMaxFileDescriptorCount() + "; raise that (ulimit -n), or lower the flag");
        }
    }

    /** Warns if a limit of active requests, of all replicas together, has no effect. */
    public void warnIfWithoutEffect(int maxActiveRequests, int replicas, Terminal terminal) {
        if (maxActiveRequests != SchedulerOptions.UNLIMITED
                && (long) maxActiveRequests * replicas >= maxInflightRequests) {
            terminal.warning("--max-active-requests " + maxActiveRequests
                    + (replicas == 1 ? "" : " for each of " + replicas + " replicas")
                    + " has no effect with --max-inflight-requests " + maxInflightRequests);
        }
    }

    /** Returns the limits that these flags set, for the line that a server prints when it starts. */
    public String limits() {
        return "in-flight requests up to " + maxInflightRequests
                + requestTimeout.map(seconds -> ", timeout " + seconds + " s").orElse("")
                + ", drain " + drainSeconds + " s";
    }

    private Optional<ApiKey> key(Terminal terminal) {
        if (apiKey.isPresent() && apiKeyFile.isPresent()) {
            throw new BadInput("--api-key and --api-key-file are both given; give one of them");
        }
        if (apiKey.isPresent()) {
            terminal.note("--api-key is visible in the process list; --api-key-file is not");
        }
        return apiKey.map(ApiKey::of).or(() -> apiKeyFile.map(ServeFlags::read));
    }

    private static ApiKey read(Path file) {
        try {
            FileFailure.requireRegular(file);
            return ApiKey.of(Files.readString(file).strip());
        } catch (BadInput malformed) {
            throw new BadInput("--api-key-file " + FileFailure.shown(file) + ": " + malformed.getMessage(), malformed);
        } catch (IOException e) {
            throw new BadInput("--api-key-file " + FileFailure.shown(file) + ": " + FileFailure.reason(e), e);
        } catch (BadModel unusable) {
            throw new BadInput("--api-key-file " + unusable.getMessage(), unusable);
        }
    }

    private boolean isLoopback() {
        try {
            return InetAddress.getByName(host).isLoopbackAddress();
        } catch (UnknownHostException e) {
            throw new BadInput("--host " + host + " is an unknown host", e);
        }
    }
}
