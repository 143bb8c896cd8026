package io.roseinfer.tokenizer.chat;

import io.roseinfer.base.StrictJson;
import io.roseinfer.tokenizer.chat.jinja.Template;
import java.util.HashMap;
import java.util.Map;
import java.util.Optional;
import java.util.regex.Pattern;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.node.JsonNodeFactory;

/**
 * How a model wants a conversation written. What it gives is a text in which special tokens are spelt out, to be encoded with
 * {@link io.roseinfer.tokenizer.Tokenizer#encode}. Immutable.
 */
public final class ChatTemplate {
    private static final Pattern TOOLS = Pattern.compile("\\btools\\b");
    private static final Pattern TOOL_CALLS = Pattern.compile("\\btool_calls\\b");

    private final Template template;
    /** The one for conversations with tools, where the model brings two. */
    private final Optional<Template> toolUse;

    private final boolean usesTools;
    private final boolean namesToolCalls;
    private final Map<String, String> specialTokens;

    private ChatTemplate(
            Template template,
            Optional<Template> toolUse,
            boolean usesTools,
            boolean namesToolCalls,
            Map<String, String> specialTokens) {
        this.template = template;
        this.toolUse = toolUse;
        this.usesTools = usesTools;
        this.namesToolCalls = namesToolCalls;
        this.specialTokens = specialTokens;
    }

    /**
     * A template at hand.
     *
     * @param description what messages call it
     * @param specialTokens by their roles, such as {@code bos_token}
     * @throws io.roseinfer.base.RoseException.BadModel if it uses something that is not supported; the message names it and its line
     */
    public static ChatTemplate parse(String source, String description, Map<String, String> specialTokens) {
        return parse(source, Optional.empty(), description, specialTokens);
    }

    static ChatTemplate parse(
            String source, Optional<String> toolUse, String description, Map<String, String> specialTokens) {
        return new ChatTemplate(
                Template.parse(source, description),
                toolUse.map(other -> Template.parse(other, description + " (tool_use)")),
                toolUse.isPresent() || TOOLS.matcher(source).find(),
                TOOL_CALLS.matcher(source).find(),
                Map.copyOf(specialTokens));
    }

    /** Whether it does something with a conversation's tools. */
    public boolean usesTools() {
        return usesTools;
    }

    /** Returns whether a conversation without tools is written by a template that names the field {@code tool_calls} of messages. */
    public boolean namesToolCalls() {
        return namesToolCalls;
    }

    /**
     * The prompt for a conversation.
     *
     * @throws io.roseinfer.base.RoseException.BadInput if the template refuses the conversation, or has no way to write it
     * @throws java.util.concurrent.CancellationException if the thread is interrupted, which is checked every few thousand steps;
     *     the interrupt status remains set
     */
    public String render(Conversation conversation) {
        Map<String, JsonNode> variables = new HashMap<>();
        JsonNodeFactory nodes = StrictJson.mapper().getNodeFactory();
        specialTokens.forEach((role, token) -> variables.put(role, nodes.stringNode(token)));
        variables.putAll(conversation.more());
        variables.put("messages", conversation.messages());
        variables.put("add_generation_prompt", nodes.booleanNode(conversation.beginAnswer()));
        conversation.tools().ifPresent(tools -> variables.put("tools", tools));
        Template chosen = conversation.tools().isPresent() ? toolUse.orElse(template) : template;
        return chosen.render(variables, format -> Strftime.format(conversation.now(), format));
    }
}
