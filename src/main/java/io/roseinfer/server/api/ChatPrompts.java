package io.roseinfer.server.api;

import io.roseinfer.base.Quoted;
import io.roseinfer.base.RoseException.BadInput;
import io.roseinfer.base.StrictJson;
import io.roseinfer.engine.ChatFormat;
import io.roseinfer.engine.Tools;
import io.roseinfer.tokenizer.Tokenizer;
import io.roseinfer.tokenizer.chat.ChatTemplate;
import io.roseinfer.tokenizer.chat.Conversation;
import io.roseinfer.tokenizer.chat.reply.ReplyFormat;
import java.time.InstantSource;
import java.time.LocalDateTime;
import java.time.ZoneId;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.StringJoiner;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.node.ArrayNode;
import tools.jackson.databind.node.ObjectNode;

/** Converts a conversation's fields to the token ids of a prompt, with the model's chat template. */
public final class ChatPrompts {
    private static final String MESSAGES = "messages";
    private static final String CONTINUE = "continue_final_message";
    private static final String TOOL_CALLS = "tool_calls";

    /** The marker that transformers puts after a message to be continued, to find its end in the prompt. */
    private static final String MARK = "CONTINUE_FINAL_MESSAGE_TAG ";

    private static final String CONTENT = "content";

    /** The roles whose messages need content. */
    private static final Set<String> NEED_CONTENT = Set.of("system", "developer", "user");

    private final ServedModel model;
    private final Optional<Tokenizer> tokenizer;
    private final InstantSource time;

    /**
     * Creates a reader.
     *
     * @param time the current time for templates that write the date
     */
    public ChatPrompts(ServedModel model, Optional<Tokenizer> tokenizer, InstantSource time) {
        this.model = model;
        this.tokenizer = tokenizer;
        this.time = time;
    }

    /** Returns the prompt's ids. Special tokens written by the template become their ids. */
    public int[] ids(Fields fields) {
        return read(fields).ids().getFirst();
    }

    /** Reads a conversation: its prompt, and how the reply is parsed. */
    CompletionReader.Prompts read(Fields fields) {
        ChatFormat format = model.chat()
                .orElseThrow(() -> ApiError.badField(MESSAGES, "the model has no chat template; use /v1/completions"));
        Tokenizer words = tokenizer.orElseThrow(
                () -> ApiError.badField(MESSAGES, "the model has no tokenizer, so it cannot chat"));
        ArrayNode messages = messages(fields, format.template());
        boolean continues = fields.flag(CONTINUE);
        boolean begins = fields.flag("add_generation_prompt", !continues);
        if (continues && begins) {
            throw ApiError.badField(CONTINUE, "continue_final_message cannot be combined with add_generation_prompt");
        }
        if (continues) {
            mark(messages);
        }
        Tools tools = ToolFields.read(fields, format);
        Conversation conversation = new Conversation(
                messages,
                tools.definitions(),
                begins,
                variables(fields),
                LocalDateTime.ofInstant(time.instant(), ZoneId.systemDefault()));
        String prompt = rendered(format, conversation);
        String text = continues ? continued(prompt) : prompt;
        ReplyFormat reply = tools.replies(format)
                .withoutReasoning(!fields.flag("include_reasoning", true))
                .after(text);
        return new CompletionReader.Prompts(List.of(Fields.checked(MESSAGES, () -> words.encode(text))), reply, tools);
    }

    /** Renders a conversation. An error of the template is reported without its file name. */
    private static String rendered(ChatFormat format, Conversation conversation) {
        try {
            return format.prompt(conversation);
        } catch (BadInput refused) {
            String message = refused.jsonMessage();
            int at = message.indexOf(" failed for this conversation");
            throw ApiError.badField(
                    refused.setting().isEmpty() ? MESSAGES : refused.setting(),
                    at < 0 ? message : "the chat template" + message.substring(at));
        }
    }

    private static Map<String, JsonNode> variables(Fields fields) {
        Map<String, JsonNode> variables = new HashMap<>();
        fields.find("chat_template_kwargs").ifPresent(node -> {
            if (!node.isObject()) {
                throw Fields.wrong("chat_template_kwargs", node, "an object");
            }
            node.properties().forEach(entry -> variables.put(entry.getKey(), entry.getValue()));
        });
        return variables;
    }

    private static ArrayNode messages(Fields fields, ChatTemplate writer) {
        JsonNode list = fields.find(MESSAGES)
                .orElseThrow(() -> ApiError.badField(MESSAGES, "messages is missing; it must be a list of messages"));
        if (!list.isArray() || list.isEmpty()) {
            throw ApiError.badField(MESSAGES, "messages must be a list of at least one message");
        }
        ArrayNode messages = StrictJson.mapper().createArrayNode();
        for (JsonNode message : list) {
            messages.add(message(message, writer, MESSAGES + "[" + messages.size() + "]"));
        }
        return messages;
    }

    private static ObjectNode message(JsonNode node, ChatTemplate writer, String where) {
        if (!(node instanceof ObjectNode message)) {
            throw ApiError.badField(where, where + " must be an object with role and content");
        }
        if (!message.path("role").isString()) {
            throw ApiError.badField(where + ".role", where + ".role must be a string");
        }
        requireRole(message, writer, where);
        ObjectNode checked = message.deepCopy();
        checked.removeIf(JsonNode::isNull);
        checked.put(CONTENT, content(message.path(CONTENT), where + "." + CONTENT));
        JsonNode calls = checked.path(TOOL_CALLS);
        if (calls.isArray() && calls.isEmpty()) {
            checked.remove(TOOL_CALLS);
        } else if (calls.isArray()) {
            calls.forEach(ChatFormat::parseArguments);
        }
        return checked;
    }

    /** Throws unless a message has a known role, and the content that the role needs. */
    private static void requireRole(ObjectNode message, ChatTemplate writer, String where) {
        String role = message.get("role").stringValue();
        writer.refusal(role).ifPresent(problem -> {
            throw ApiError.badField(where + ".role", where + ".role " + problem);
        });
        if (NEED_CONTENT.contains(role) && !message.hasNonNull(CONTENT)) {
            String field = where + "." + CONTENT;
            throw ApiError.badField(field, field + " is missing; set it to a string or a list of text parts");
        }
    }

    /** Returns a string, or the text parts of a list, one per line. A missing content is empty. */
    private static String content(JsonNode content, String where) {
        if (content.isString()) {
            return content.stringValue();
        }
        if (content.isNull() || content.isMissingNode()) {
            return "";
        }
        if (!content.isArray()) {
            throw Fields.wrong(where, content, "a string or a list of text parts");
        }
        StringJoiner text = new StringJoiner("\n");
        for (JsonNode part : content) {
            JsonNode type = part.path("type");
            if (!type.isString()
                    || !type.stringValue().equals("text")
                    || !part.path("text").isString()) {
                String seen = type.isString() ? " of type " + Quoted.name(type.stringValue()) : "";
                throw ApiError.badField(
                        where, where + " has a part" + seen + "; only parts of type text are supported");
            }
            text.add(part.get("text").stringValue());
        }
        return text.toString();
    }

    private static void mark(ArrayNode messages) {
        ObjectNode last = (ObjectNode) messages.get(messages.size() - 1);
        last.put(CONTENT, last.get(CONTENT).stringValue() + MARK);
    }

    /** Returns the prompt up to the end of the last message's text, as transformers does. */
    private static String continued(String prompt) {
        int at = prompt.lastIndexOf(MARK.strip());
        if (at < 0) {
            throw ApiError.badField(CONTINUE, "the chat template changes the last message, so it cannot be continued");
        }
        String kept = prompt.substring(0, at);
        // A template that trims the mark's trailing space trims that of a message, too.
        return prompt.startsWith(MARK, at) ? kept : kept.stripTrailing();
    }
}
