package io.roseinfer.engine;

import io.roseinfer.base.Quoted;
import io.roseinfer.base.RoseException.BadInput;
import io.roseinfer.base.StrictJson;
import io.roseinfer.tokenizer.chat.ChatTemplate;
import io.roseinfer.tokenizer.chat.Conversation;
import io.roseinfer.tokenizer.chat.reply.CallGrammar;
import io.roseinfer.tokenizer.chat.reply.ReplyFormats;
import io.roseinfer.tokenizer.chat.reply.ToolCallFormat;
import java.nio.charset.StandardCharsets;
import java.util.HashSet;
import java.util.List;
import java.util.Objects;
import java.util.Optional;
import java.util.Set;
import tools.jackson.core.JacksonException;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.node.ArrayNode;
import tools.jackson.databind.node.ObjectNode;

/**
 * The format of a model's conversations and replies.
 *
 * @param template writes conversations
 * @param replies the formats of tool calls and reasoning in replies
 */
public record ChatFormat(ChatTemplate template, ReplyFormats replies) {
    private static final String TOOL_CALLS = "tool_calls";
    private static final String CONTENT = "content";

    public ChatFormat {
        Objects.requireNonNull(template, "template");
        Objects.requireNonNull(replies, "replies");
    }

    /** Returns the format of a template's model; the formats of replies are recognized from the template. */
    public static ChatFormat of(ChatTemplate template) {
        return new ChatFormat(template, ReplyFormats.of(template));
    }

    /**
     * Throws unless the model supports some tools.
     *
     * @throws BadInput if its template does not write tools, or the format of its calls is not known, or calls cannot be
     *     enforced in that format
     */
    public void requireSupported(Tools tools) {
        if (tools.list().isEmpty()) {
            return;
        }
        if (!template.usesTools()) {
            throw BadInput.about("tools", " are not used by the model's chat template; remove them");
        }
        if (tools.mayCall() && replies.calls() == ToolCallFormat.NONE) {
            throw BadInput.about(
                    "tools", " cannot be called, because the format of the model's calls is not known; remove them");
        }
        if (CallGrammar.exists(replies.calls())) {
            return;
        }
        String enforced = ", which cannot be enforced in the format of the model's calls; set it to ";
        if (tools.choice() == Tools.Choice.REQUIRED) {
            throw BadInput.about("tool_choice", " is required" + enforced + "auto");
        }
        tools.strict().ifPresent(index -> {
            throw BadInput.about("tools[" + index + "].function.strict", " is true" + enforced + "false");
        });
    }

    /**
     * Returns messages in OpenAI's format, for a template.
     *
     * @throws BadInput if a role is neither one of OpenAI's API nor in the template
     */
    public ArrayNode messages(List<ChatMessage> messages) {
        ArrayNode list = StrictJson.mapper().createArrayNode();
        for (ChatMessage message : messages) {
            Objects.requireNonNull(message, "one of the messages");
            template.refusal(message.role()).ifPresent(problem -> {
                throw new BadInput("messages[" + list.size() + "].role " + problem);
            });
            message.addTo(list);
        }
        return list;
    }

    /**
     * Returns a conversation as a prompt, with all earlier tool calls: if the template does not write them, they are
     * part of the content in the model's format. Otherwise the model would see results without their calls.
     *
     * @param conversation its messages have {@code content}
     * @throws BadInput if the template rejects the conversation, calls would be missing from the prompt, or a result has
     *     the id of no earlier call
     */
    public String prompt(Conversation conversation) {
        requireCallsOfResults(conversation.messages());
        String prompt = template.render(conversation);
        ArrayNode without = StrictJson.mapper().createArrayNode();
        ArrayNode asContent = StrictJson.mapper().createArrayNode();
        int first = -1;
        boolean isKnown = true;
        for (JsonNode message : conversation.messages()) {
            ObjectNode plain = ((ObjectNode) message.deepCopy()).without(TOOL_CALLS);
            ObjectNode written = plain.deepCopy();
            if (message.has(TOOL_CALLS)) {
                first = first < 0 ? without.size() : first;
                Optional<String> calls = replies.calls().text(message.get(TOOL_CALLS));
                isKnown &= calls.isPresent();
                String content = plain.get(CONTENT).stringValue();
                written.put(CONTENT, (content.isEmpty() ? "" : content + "\n") + calls.orElse(""));
            }
            without.add(plain);
            asContent.add(written);
        }
        boolean named = conversation.tools().isEmpty() && template.namesToolCalls();
        if (first < 0 || named || !isPrompt(prompt, conversation.withMessages(without))) {
            return prompt;
        }
        if (isKnown) {
            return template.render(conversation.withMessages(asContent));
        }
        throw BadInput.about(
                "messages[" + first + "]." + TOOL_CALLS,
                " would be missing from the prompt, because the model's chat template does not write tool calls;"
                        + " leave it out, or write the calls as content");
    }

    /** Throws if a result names a call that no earlier message has. Results without an id are allowed, as in transformers. */
    private static void requireCallsOfResults(JsonNode messages) {
        Set<String> ids = new HashSet<>();
        for (int i = 0; i < messages.size(); i++) {
            JsonNode message = messages.get(i);
            String id = message.path("tool_call_id").asString("");
            if (message.path("role").asString("").equals("tool") && !id.isEmpty() && !ids.contains(id)) {
                throw BadInput.of(
                        "messages[" + i + "].tool_call_id",
                        Quoted.name(id),
                        "it must be the id of a tool call in an earlier message");
            }
            message.path(TOOL_CALLS).forEach(call -> ids.add(call.path("id").asString("")));
        }
    }

    private boolean isPrompt(String prompt, Conversation conversation) {
        try {
            return template.render(conversation).equals(prompt);
        } catch (BadInput refused) {
            return false;
        }
    }

    /** Parses the arguments of a call in OpenAI's format, JSON in a string, because templates expect an object. */
    public static void parseArguments(JsonNode call) {
        if (call.path("function") instanceof ObjectNode function
                && function.path("arguments").isString()) {
            String text = function.get("arguments").stringValue();
            String arguments = text.isBlank() ? "{}" : text;
            try {
                function.set("arguments", StrictJson.parse(arguments.getBytes(StandardCharsets.UTF_8)));
            } catch (JacksonException notJson) {
                // A model may have written anything; the template gets the string.
            }
        }
    }
}
