package io.roseinfer.server;

import io.roseinfer.base.Clock;
import io.roseinfer.base.Printable;
import io.roseinfer.base.StrictJson;
import io.roseinfer.engine.Completion;
import io.roseinfer.metrics.RequestTimeline;
import io.roseinfer.scheduler.FinishReason;
import io.roseinfer.server.api.CompletionCall;
import io.roseinfer.server.api.CompletionJson;
import java.time.Instant;
import java.time.InstantSource;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.OptionalInt;
import java.util.function.Consumer;
import java.util.stream.Stream;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.node.ObjectNode;

/**
 * The access log: one line per call, without prompts and completions; none for probes that are answered with 200. Each
 * line is escaped, so that it stays one line.
 * Thread-safe if the receiver of the lines is.
 */
public final class AccessLog {
    /** Format of a line. */
    public enum Format {
        /** No lines. */
        OFF,
        /**
         * {@code name=value} pairs separated by spaces (logfmt), without empty values. A value with a space, {@code =} or
         * {@code "} is quoted.
         */
        TEXT,
        /** One JSON object. */
        JSON
    }

    /** Characters of {@code user} in a line, so that a client cannot write long ones. */
    private static final int MAX_USER_CHARS = 128;

    /** The lowest status that is the server's error. */
    private static final int FIRST_ERROR = 500;

    private final Format format;
    private final Consumer<String> lines;
    private final Clock clock;
    private final InstantSource time;

    /**
     * Creates a log.
     *
     * @param lines receives each line, without its line end, from any thread
     * @param time the time of the lines
     */
    public AccessLog(Format format, Consumer<String> lines, Clock clock, InstantSource time) {
        this.format = Objects.requireNonNull(format, "format");
        this.lines = Objects.requireNonNull(lines, "lines");
        this.clock = Objects.requireNonNull(clock, "clock");
        this.time = Objects.requireNonNull(time, "time");
    }

    /** Returns a disabled log. */
    public static AccessLog off() {
        return new AccessLog(Format.OFF, line -> {}, Clock.system(), () -> Instant.EPOCH);
    }

    /** Returns whether requests have lines. */
    boolean isOn() {
        return format != Format.OFF;
    }

    void done(Exchange exchange) {
        boolean isAnsweredProbe = Api.PROBES.contains(exchange.call().path()) && exchange.status() == 200;
        if (isOn() && !isAnsweredProbe) {
            ObjectNode entry = entry(exchange);
            lines.accept(format == Format.JSON ? entry.toString() : text(entry));
        }
    }

    private static String level(Exchange exchange) {
        // A supervisor's 503 is an answer.
        if (exchange.status() >= FIRST_ERROR
                && !Api.SUPERVISED.contains(exchange.call().path())) {
            return "error";
        }
        return exchange.hasTimedOut() ? "warning" : "info";
    }

    private ObjectNode entry(Exchange exchange) {
        ObjectNode entry = StrictJson.mapper().createObjectNode();
        entry.put("time", time.instant().toString());
        if (format == Format.JSON) {
            entry.put("level", level(exchange));
        }
        entry.put("client", exchange.call().client())
                .put("request_id", exchange.requestId())
                .put("method", exchange.call().method())
                .put("path", exchange.call().path())
                .put("status", exchange.status())
                .put("ms", millis(exchange.call().arrival().firstByteNanos(), clock.nanos()));
        if (!exchange.user().isEmpty()) {
            entry.put("user", shortened(exchange.user()));
        }
        exchange.served().ifPresent(served -> put(entry, served));
        exchange.error().ifPresent(error -> entry.put("error", error));
        return entry;
    }

    /** Adds the work for a call. A time is the longest of the call's completions. */
    private static void put(ObjectNode entry, Exchange.Served served) {
        CompletionCall call = served.call();
        List<Completion> all = served.completions();
        entry.put("prompt_tokens", call.promptTokens());
        if (!all.isEmpty()) {
            entry.put("cached_tokens", CompletionJson.cachedTokens(call, all));
        }
        entry.put("completion_tokens", served.completionTokens()).put("finish_reason", served.finishReason());
        if (all.isEmpty()) {
            return;
        }
        stopReason(all.getLast(), call).ifPresent(reason -> entry.put("stop_reason", reason));
        List<RequestTimeline> times = all.stream().map(Completion::timeline).toList();
        putLongest(entry, "queue_ms", times.stream().map(AccessLog::queueMillis));
        List<RequestTimeline> begun =
                times.stream().filter(each -> each.tokenNanos().length > 0).toList();
        putLongest(entry, "ttft_ms", begun.stream().map(AccessLog::ttftMillis));
        putLongest(entry, "decode_ms", begun.stream().map(AccessLog::decodeMillis));
        entry.put("engine", times.getLast().replica());
    }

    private static void putLongest(ObjectNode entry, String name, Stream<Double> millis) {
        millis.max(Double::compare).ifPresent(longest -> entry.put(name, longest));
    }

    private static double queueMillis(RequestTimeline times) {
        return millis(times.tokenizedNanos(), times.admittedNanos());
    }

    private static double ttftMillis(RequestTimeline times) {
        return millis(times.submittedNanos(), times.tokenNanos()[0]);
    }

    private static double decodeMillis(RequestTimeline times) {
        long[] tokens = times.tokenNanos();
        return millis(tokens[0], tokens[tokens.length - 1]);
    }

    private static double millis(long startNanos, long endNanos) {
        return Math.rint((endNanos - startNanos) / 1e3) / 1e3;
    }

    /** Returns why a completion stopped, without the stop text, which is the client's. */
    private static Optional<String> stopReason(Completion completion, CompletionCall call) {
        if (completion.finishReason() == FinishReason.DEADLINE) {
            return Optional.of(CompletionJson.DEADLINE);
        }
        if (completion.stopString().isPresent()) {
            return Optional.of("stop");
        }
        OptionalInt token = CompletionJson.stopToken(completion, call);
        return token.isPresent() ? Optional.of("stop_token_ids") : Optional.empty();
    }

    private static String shortened(String user) {
        if (user.length() <= MAX_USER_CHARS) {
            return user;
        }
        boolean splits = Character.isHighSurrogate(user.charAt(MAX_USER_CHARS - 1));
        return user.substring(0, splits ? MAX_USER_CHARS - 1 : MAX_USER_CHARS) + "…";
    }

    private static String text(ObjectNode entry) {
        StringBuilder line = new StringBuilder();
        for (Map.Entry<String, JsonNode> field : entry.properties()) {
            JsonNode value = field.getValue();
            String text = value.isString() ? value.stringValue() : value.toString();
            if (!text.isEmpty()) {
                line.append(line.isEmpty() ? "" : " ")
                        .append(field.getKey())
                        .append('=')
                        .append(quotedIfNeeded(text));
            }
        }
        return Printable.escape(line.toString());
    }

    private static String quotedIfNeeded(String text) {
        boolean bare = text.chars().noneMatch(c -> c <= ' ' || c == '"' || c == '=' || c == '\\');
        return bare ? text : '"' + text.replace("\\", "\\\\").replace("\"", "\\\"") + '"';
    }
}
