package io.roseinfer.bench.load;

import io.roseinfer.base.FileFailure;
import io.roseinfer.base.Quoted;
import io.roseinfer.base.RoseException.BadInput;
import io.roseinfer.base.StrictJson;
import io.roseinfer.bench.load.OfferedRequest.Traits;
import io.roseinfer.engine.Prompt;
import io.roseinfer.grammar.Grammar;
import io.roseinfer.server.api.ApiError;
import io.roseinfer.server.api.GrammarReader;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalDouble;
import java.util.OptionalInt;
import java.util.stream.Stream;
import tools.jackson.core.JacksonException;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.node.ObjectNode;

/**
 * The dataset {@code jsonl}: a line per request.
 *
 * <pre>
 * prompt              text or token ids
 * output_tokens       length of the completion in simulated time; maximum elsewhere, unless max_tokens is given
 * max_tokens          maximum length, at least output_tokens; without it, output_tokens
 * predicted_tokens    a prediction of the length for policies
 * timestamp_ms        arrival time, on every line or on none
 * tenant, slo         names of its tenant and of its class of objectives
 * priority            a whole number; higher is more urgent
 * deadline_ms         time after arrival by which the request should be complete
 * conversation        name of the conversation that the line is the next turn of; its first line begins it
 * think_ms            of a later turn: time from the end of the previous answer until its scheduled time, default 0
 * response_format, structured_outputs, tools, tool_choice
 *                     fields of the HTTP request
 * </pre>
 *
 * <p>The prompt of a later turn is token ids, and only its new part: the previous prompt and the generated answer come before it.
 */
public final class JsonlPrompts {
    /** Names of tenants and classes, which are also in names of metrics. */
    static final String NAME = "[\\p{L}\\p{N}._-]{1,64}";

    /** The field with tools; an engine without a server has none. */
    public static final String TOOLS = "tools";

    private static final String CHOICE = "tool_choice";

    private static final double NANOS_PER_MILLI = 1e6;

    /** A hundred years: later times would overflow nanoseconds. */
    private static final double MAX_MILLIS = 100 * 365 * 86_400e3;

    private static final List<String> FIELDS = List.of(
            "prompt",
            "output_tokens",
            "max_tokens",
            "predicted_tokens",
            "timestamp_ms",
            "tenant",
            "slo",
            "priority",
            "deadline_ms",
            "conversation",
            "think_ms",
            GrammarReader.FORMAT,
            GrammarReader.OUTPUTS,
            TOOLS,
            CHOICE);

    private JsonlPrompts() {}

    /**
     * Reads the first requests of a file. With timestamps they are scheduled at these times since the earliest, in their order; without, all are
     * scheduled at the start. Of conversations only the first turns are listed.
     *
     * @param most maximum number of requests, with later turns
     * @param outputTokens output length of requests that specify none
     * @param isSimulated whether the requests are for simulated time, which has no tokenizer and no grammars
     * @throws BadInput if a line is wrong; the message has its number
     */
    public static OfferedLoad read(Path file, int most, int outputTokens, boolean isSimulated) {
        FileFailure.requireRegular(file);
        List<Line> parsed = new ArrayList<>();
        // Lines of conversations by name, and for any other line itself.
        Map<Object, List<Line>> conversations = new LinkedHashMap<>();
        try (Stream<String> lines = Files.lines(file, StandardCharsets.UTF_8)) {
            int number = 0;
            int read = 0;
            for (String line : (Iterable<String>) lines::iterator) {
                number++;
                if (!line.isBlank() && read < most) {
                    Line next = line(line, FileFailure.shown(file) + " line " + number, outputTokens);
                    List<Line> turns = conversations.computeIfAbsent(
                            next.conversation().isPresent()
                                    ? next.conversation().get()
                                    : next,
                            key -> new ArrayList<>());
                    if (isSimulated) {
                        next.requireSimulated();
                    }
                    next.requireTurn(turns);
                    if (turns.isEmpty()) {
                        next.requireTimeLike(parsed);
                        parsed.add(next);
                    }
                    turns.add(next);
                    read++;
                }
            }
        } catch (IOException | java.io.UncheckedIOException e) {
            throw new BadInput(FileFailure.shown(file) + " cannot be read: " + e.getMessage(), e);
        }
        if (parsed.isEmpty()) {
            throw new BadInput(FileFailure.shown(file) + " has no line with a request");
        }
        int number = 0;
        List<Line> joined = new ArrayList<>();
        for (List<Line> turns : conversations.values()) {
            joined.add(turns.getFirst().conversation().isPresent() ? Line.joined(number++, turns) : turns.getFirst());
        }
        return load(joined);
    }

    private static OfferedLoad load(List<Line> lines) {
        if (lines.getFirst().millis().isEmpty()) {
            return new OfferedLoad(lines.stream().map(Line::request).toList(), OfferedLoad.Pacing.BURST);
        }
        List<Line> sorted = new ArrayList<>(lines);
        sorted.sort(Comparator.comparingDouble(line -> line.millis().getAsDouble()));
        double first = sorted.getFirst().millis().getAsDouble();
        return new OfferedLoad(
                sorted.stream()
                        .map(line -> line.request()
                                .withDueNanos(Math.round((line.millis().getAsDouble() - first) * NANOS_PER_MILLI)))
                        .toList(),
                OfferedLoad.Pacing.SCHEDULED);
    }

    /**
     * A line of the file.
     *
     * @param where its file and number
     * @param millis its timestamp
     * @param conversation name of its conversation
     * @param thinkMillis think time before it
     */
    private record Line(
            String where,
            OfferedRequest request,
            OptionalDouble millis,
            Optional<String> conversation,
            OptionalDouble thinkMillis) {
        /** Returns the first turn, followed by the others. */
        static Line joined(int number, List<Line> turns) {
            OfferedRequest joined = turns.getLast().turn(number, turns.size() - 1);
            for (int i = turns.size() - 2; i >= 0; i--) {
                long think = Math.round(turns.get(i + 1).thinkMillis.orElse(0) * NANOS_PER_MILLI);
                joined = turns.get(i).turn(number, i).withNext(new OfferedRequest.Turn(think, joined));
            }
            Line first = turns.getFirst();
            return new Line(first.where, joined, first.millis, first.conversation, first.thinkMillis);
        }

        private OfferedRequest turn(int ofConversation, int number) {
            return request.withTraits(request.traits().withTurn(ofConversation, number));
        }

        /** Fails if the line cannot follow the turns of its conversation. */
        void requireTurn(List<Line> before) {
            if (thinkMillis.isPresent() && before.isEmpty()) {
                throw new BadInput(where + " has think_ms, but no line before it has its conversation; leave it out");
            }
            if (millis.isPresent() && !before.isEmpty()) {
                throw new BadInput(where + " has timestamp_ms, but it is a later turn, due think_ms after the previous"
                        + " answer; leave it out");
            }
            if (conversation.isPresent() && request.promptTokens() < 0) {
                throw new BadInput(
                        where + " is a turn of a conversation with a text prompt; it must be a list of token ids");
            }
        }

        /** Fails if only some lines have timestamps. */
        void requireSimulated() {
            request.constraints().ifPresent(fields -> {
                throw new BadInput(where + ": simulated time computes no masks; remove "
                        + String.join(", ", fields.propertyNames()));
            });
            if (request.promptTokens() < 0) {
                throw new BadInput(where + ": simulated time has no tokenizer, but prompt is text; give token ids");
            }
        }

        void requireTimeLike(List<Line> before) {
            if (!before.isEmpty() && before.getFirst().millis().isPresent() != millis.isPresent()) {
                throw new BadInput(where + (millis.isPresent() ? " has" : " lacks") + " timestamp_ms, unlike the lines"
                        + " before it; give it on every line or on none");
            }
        }
    }

    private static Line line(String text, String where, int outputTokens) {
        JsonNode node;
        try {
            node = StrictJson.parse(text.getBytes(StandardCharsets.UTF_8));
        } catch (JacksonException e) {
            throw new BadInput(where + " is not JSON: " + StrictJson.reason(e), e);
        }
        node.propertyNames().stream()
                .filter(name -> !FIELDS.contains(name))
                .findFirst()
                .ifPresent(name -> {
                    throw new BadInput(where + ": " + Quoted.name(name)
                            + " is not supported; leave it out, or use one of " + String.join(", ", FIELDS));
                });
        OptionalInt max = positive(node, "max_tokens", where);
        OptionalInt given = positive(node, "output_tokens", where);
        int output = given.orElse(Math.min(outputTokens, max.orElse(outputTokens)));
        if (max.orElse(output) < output) {
            throw new BadInput(where + ": output_tokens is " + output + ", but max_tokens is " + max.getAsInt()
                    + "; it must be at most that");
        }
        OfferedRequest request = new OfferedRequest(
                0,
                PromptSource.of(prompt(node.path("prompt"), where)),
                output,
                constraints(node, where),
                traits(node, max, where),
                Optional.empty());
        return new Line(
                where,
                request,
                millis(node, "timestamp_ms", where),
                name(node, "conversation", where),
                millis(node, "think_ms", where));
    }

    private static Traits traits(JsonNode node, OptionalInt maxTokens, String where) {
        return new Traits(
                name(node, "tenant", where),
                name(node, "slo", where),
                whole(node, "priority", Integer.MIN_VALUE, "a whole number", where),
                millis(node, "deadline_ms", where),
                maxTokens,
                positive(node, "predicted_tokens", where),
                OptionalInt.empty(),
                OptionalInt.empty());
    }

    private static boolean isMissing(JsonNode value) {
        return value.isMissingNode() || value.isNull();
    }

    private static OptionalInt positive(JsonNode node, String field, String where) {
        return whole(node, field, 1, "a positive whole number", where);
    }

    private static OptionalInt whole(JsonNode node, String field, int min, String wanted, String where) {
        JsonNode value = node.path(field);
        if (isMissing(value)) {
            return OptionalInt.empty();
        }
        if (!(value.isInt() && value.intValue() >= min)) {
            throw wrong(field, value, wanted, where);
        }
        return OptionalInt.of(value.intValue());
    }

    private static OptionalDouble millis(JsonNode node, String field, String where) {
        JsonNode value = node.path(field);
        if (isMissing(value)) {
            return OptionalDouble.empty();
        }
        if (!(value.isNumber() && value.doubleValue() >= 0 && value.doubleValue() <= MAX_MILLIS)) {
            throw wrong(field, value, "a number of milliseconds, 0 to a hundred years", where);
        }
        return OptionalDouble.of(value.doubleValue());
    }

    private static Optional<String> name(JsonNode node, String field, String where) {
        JsonNode value = node.path(field);
        if (isMissing(value)) {
            return Optional.empty();
        }
        if (!value.isString() || !value.stringValue().matches(NAME)) {
            throw wrong(field, value, "a name of letters, digits, '.', '_' and '-'", where);
        }
        return Optional.of(value.stringValue());
    }

    private static BadInput wrong(String field, JsonNode value, String wanted, String where) {
        return new BadInput(where + ": " + field + " is " + Quoted.value(value.toString()) + "; it must be " + wanted);
    }

    private static Optional<JsonNode> constraints(JsonNode node, String where) {
        ObjectNode fields = StrictJson.mapper().createObjectNode();
        for (String name : List.of(GrammarReader.FORMAT, GrammarReader.OUTPUTS, TOOLS, CHOICE)) {
            JsonNode value = node.path(name);
            if (!isMissing(value)) {
                fields.set(name, value);
            }
        }
        try {
            Optional<Grammar> unused = GrammarReader.grammar(fields);
        } catch (ApiError | BadInput wrong) {
            throw new BadInput(where + ": " + wrong.getMessage(), wrong);
        }
        return fields.isEmpty() ? Optional.empty() : Optional.of(fields);
    }

    private static Prompt prompt(JsonNode prompt, String where) {
        if (prompt.isString()) {
            return new Prompt.Text(prompt.stringValue());
        }
        boolean ids = prompt.isArray() && !prompt.isEmpty();
        for (JsonNode id : prompt) {
            ids &= id.isInt() && id.intValue() >= 0;
        }
        if (!ids) {
            throw new BadInput(where + ": prompt must be text or a non-empty list of token ids");
        }
        return new Prompt.Tokens(
                prompt.valueStream().mapToInt(JsonNode::intValue).toArray());
    }
}
