package io.roseinfer.server.api;

import io.roseinfer.base.StrictJson;
import io.roseinfer.engine.Completion;
import java.util.List;
import java.util.Objects;
import java.util.Optional;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.node.ArrayNode;
import tools.jackson.databind.node.ObjectNode;

/**
 * Builds the objects of {@code /v1/responses} from a chat's: the parts of a message become output items, and the chunks of
 * a stream become events. For one response.
 */
final class ResponsesJson extends ChatJson {
    /** The kinds of output items. */
    private enum Kind {
        REASONING("reasoning", REASONING_ID, "response.reasoning_text"),
        MESSAGE("message", "msg_", "response.output_text"),
        CALL("function_call", "fc_", "response.function_call_arguments");

        private final String type;
        private final String prefix;
        private final String event;

        Kind(String type, String prefix, String event) {
            this.type = type;
            this.prefix = prefix;
            this.event = event;
        }
    }

    /** The start of the ids of reasoning. */
    static final String REASONING_ID = "rs_";

    private static final String COMPLETED = "completed";
    private static final String INCOMPLETE = "incomplete";

    private final String requestId;
    private final long created;
    private final String model;
    private final CompletionCall call;
    private final ArrayNode output = StrictJson.mapper().createArrayNode();
    /** The item that the next text may belong to; the last of the output. */
    private @Nullable ObjectNode item;

    private Kind kind = Kind.MESSAGE;
    /** The text or the arguments of that item so far. */
    private final StringBuilder text = new StringBuilder();
    /** The events since the last one sent. */
    private final StringBuilder events = new StringBuilder();

    private int sequence;
    private Optional<String> missing = Optional.empty();
    private @Nullable ReplyStream parts;

    ResponsesJson(String requestId, long created, String model, TokenTexts texts, CompletionCall call) {
        super("resp_" + requestId, created, model, texts, call.output().stream());
        this.requestId = requestId;
        this.created = created;
        this.model = model;
        this.call = call;
    }

    @Override
    public ObjectNode response(CompletionCall unused, List<Completion> completions) {
        Completion completion = completions.getFirst();
        ReplyStream reply = replyStream(0, call).orElseThrow();
        read(reply, completion, call).takeDeltas().forEach(this::add);
        ObjectNode choice = StrictJson.mapper().createObjectNode();
        finish(choice, completion, call);
        end(choice);
        ObjectNode counts = StrictJson.mapper().createObjectNode();
        usage(counts, call, completions);
        return ended(counts);
    }

    /** Returns the converter of the tokens, also for a reply without parts. */
    @Override
    public Optional<ReplyStream> replyStream(int index, CompletionCall unused) {
        parts = newReplyStream(index, call);
        return Optional.of(parts);
    }

    @Override
    public String event(ObjectNode chunk) {
        JsonNode choice = chunk.path("choices").path(0);
        JsonNode delta = choice.path("delta");
        if (delta.has("role")) {
            emit("response.created", data("response", object("in_progress")));
            emit("response.in_progress", data("response", object("in_progress")));
        } else {
            add(delta);
        }
        if (choice.path("finish_reason").isString()) {
            end(choice);
        }
        if (chunk.has("usage")) {
            ObjectNode response = ended(chunk);
            List.of("metrics", "timings").forEach(name -> response.set(name, chunk.get(name)));
            emit("response." + response.get("status").stringValue(), data("response", response));
        }
        if (chunk.has("stamps")) {
            emit("roseinfer.stamps", data("stamps", chunk.get("stamps")));
        }
        return takeEvents();
    }

    @Override
    public String lastEvent() {
        return "";
    }

    @Override
    public String failure(ApiError error) {
        close(INCOMPLETE);
        ObjectNode response = object("failed");
        response.putObject("error").put("code", "server_error").put("message", error.message());
        emit("response.failed", data("response", response));
        return takeEvents();
    }

    private String takeEvents() {
        String taken = events.toString();
        events.setLength(0);
        return taken;
    }

    /** Adds a part of the reply to the item it belongs to. */
    private void add(JsonNode delta) {
        add(Kind.REASONING, delta.path("reasoning_content").asString(""));
        add(Kind.MESSAGE, delta.path("content").asString(""));
        JsonNode part = delta.path("tool_calls").path(0);
        JsonNode function = part.path("function");
        if (part.has("id")) {
            open(Kind.CALL)
                    .put("call_id", part.get("id").stringValue())
                    .put("name", function.get("name").stringValue())
                    .put("arguments", "");
            emitItem("response.output_item.added");
        }
        add(Kind.CALL, function.path("arguments").asString(""));
    }

    private void add(Kind of, String more) {
        if (more.isEmpty()) {
            return;
        }
        if (item == null || kind != of) {
            openText(of);
        }
        text.append(more);
        ObjectNode delta = place().put("delta", more);
        emit(of.event + ".delta", of == Kind.MESSAGE ? withLogprobs(delta) : delta);
    }

    private void openText(Kind of) {
        ObjectNode opened = open(of);
        if (of == Kind.MESSAGE) {
            opened.put("role", "assistant");
        } else {
            opened.putArray("summary");
        }
        opened.putArray("content");
        emitItem("response.output_item.added");
        emit("response.content_part.added", part(""));
    }

    private ObjectNode open(Kind of) {
        close(COMPLETED);
        kind = of;
        ObjectNode opened = output.addObject();
        item = opened;
        return opened.put("id", of.prefix + requestId + "_" + (output.size() - 1))
                .put("type", of.type)
                .put("status", "in_progress");
    }

    private void close(String status) {
        if (item == null) {
            return;
        }
        String all = text.toString();
        text.setLength(0);
        item.put("status", status);
        if (kind == Kind.CALL) {
            item.put("arguments", all);
            emit(
                    kind.event + ".done",
                    place().put("name", item.get("name").stringValue()).put("arguments", all));
        } else {
            ObjectNode part = part(all);
            ObjectNode done = place().put("text", all);
            emit(kind.event + ".done", kind == Kind.MESSAGE ? withLogprobs(done) : done);
            emit("response.content_part.done", part);
            ((ArrayNode) item.get("content")).add(part.get("part"));
        }
        emitItem("response.output_item.done");
        item = null;
    }

    private void end(JsonNode choice) {
        missing = switch (choice.get("finish_reason").stringValue()) {
            case "length" -> Optional.of("max_output_tokens");
            case "abort" -> Optional.of(DEADLINE);
            default -> Optional.empty();
        };
        if (output.isEmpty()) {
            openText(Kind.MESSAGE);
        }
        close(missing.isEmpty() ? COMPLETED : INCOMPLETE);
    }

    /** Returns the response after its end, with the token counts of a chat. */
    private ObjectNode ended(ObjectNode chat) {
        ObjectNode response = object(missing.isEmpty() ? COMPLETED : INCOMPLETE);
        missing.ifPresent(reason -> response.putObject("incomplete_details").put("reason", reason));
        JsonNode counts = chat.get("usage");
        ObjectNode usage = response.putObject("usage");
        usage.set("input_tokens", counts.get("prompt_tokens"));
        usage.putObject("input_tokens_details")
                .put("cache_write_tokens", 0)
                .set("cached_tokens", counts.get("prompt_tokens_details").get("cached_tokens"));
        usage.set("output_tokens", counts.get("completion_tokens"));
        usage.putObject("output_tokens_details")
                .put("reasoning_tokens", Objects.requireNonNull(parts).reasoningTokens());
        usage.set("total_tokens", counts.get("total_tokens"));
        return response;
    }

    /** Returns the response with the items so far. */
    private ObjectNode object(String status) {
        ObjectNode response = StrictJson.mapper().createObjectNode();
        response.put("id", "resp_" + requestId)
                .put("object", "response")
                .put("created_at", created)
                .put("status", status)
                .put("model", model)
                .putNull("error")
                .putNull("incomplete_details")
                .putNull("previous_response_id")
                .put("background", false)
                .put("store", false)
                .setAll(call.settings().orElseThrow());
        response.set("output", output);
        return response.putNull("usage");
    }

    private ObjectNode place() {
        ObjectNode place = StrictJson.mapper()
                .createObjectNode()
                .put("item_id", Objects.requireNonNull(item).get("id").stringValue())
                .put("output_index", output.size() - 1);
        return kind == Kind.CALL ? place : place.put("content_index", 0);
    }

    private ObjectNode part(String all) {
        ObjectNode place = place();
        ObjectNode part = place.putObject("part");
        if (kind == Kind.REASONING) {
            part.put("type", "reasoning_text").put("text", all);
        } else {
            part.put("type", "output_text").put("text", all).putArray("annotations");
            ObjectNode unused = withLogprobs(part);
        }
        return place;
    }

    private static ObjectNode withLogprobs(ObjectNode node) {
        node.putArray("logprobs");
        return node;
    }

    private static ObjectNode data(String name, JsonNode value) {
        ObjectNode data = StrictJson.mapper().createObjectNode();
        data.set(name, value);
        return data;
    }

    private void emitItem(String type) {
        ObjectNode data = data("item", Objects.requireNonNull(item));
        emit(type, data.put("output_index", output.size() - 1));
    }

    private void emit(String type, ObjectNode data) {
        if (call.output().stream()) {
            ObjectNode event = StrictJson.mapper()
                    .createObjectNode()
                    .put("type", type)
                    .put("sequence_number", sequence++)
                    .setAll(data);
            events.append("event: ")
                    .append(type)
                    .append("\ndata: ")
                    .append(event)
                    .append("\n\n");
        }
    }
}
