package io.roseinfer.tokenizer.chat;

import io.roseinfer.base.Quoted;
import io.roseinfer.base.StrictJson;
import io.roseinfer.tokenizer.chat.jinja.Template;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.node.JsonNodeFactory;

/**
 * A model's chat template, which renders a conversation as text. Special tokens are written as text, to be encoded with
 * {@link io.roseinfer.tokenizer.Tokenizer#encode}. Immutable.
 */
public final class ChatTemplate {
    /** The roles of OpenAI's API. */
    private static final List<String> ROLES = List.of("system", "developer", "user", "assistant", "tool", "function");

    private static final Pattern TOOLS = Pattern.compile("\\btools\\b");
    private static final Pattern TOOL_CALLS = Pattern.compile("\\btool_calls\\b");
    private static final Pattern QUOTED_WORD = Pattern.compile("(['\"])([\\w-]+)\\1");

    private final Template template;
    /** The template for conversations with tools, if the model has two. */
    private final Optional<Template> toolUse;

    private final boolean usesTools;
    private final boolean namesToolCalls;
    /** The words in quotes in the templates' source. */
    private final Set<String> quotedWords;

    private final Map<String, String> specialTokens;

    private ChatTemplate(
            Template template,
            Optional<Template> toolUse,
            boolean usesTools,
            boolean namesToolCalls,
            Set<String> quotedWords,
            Map<String, String> specialTokens) {
        this.template = template;
        this.toolUse = toolUse;
        this.usesTools = usesTools;
        this.namesToolCalls = namesToolCalls;
        this.quotedWords = quotedWords;
        this.specialTokens = specialTokens;
    }

    /**
     * Parses a template.
     *
     * @param description its name in messages
     * @param specialTokens by their roles, such as {@code bos_token}
     * @throws io.roseinfer.base.RoseException.BadModel if it uses an unsupported feature; the message names it and its
     *     line
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
                quotedWords(source + toolUse.orElse("")),
                Map.copyOf(specialTokens));
    }

    private static Set<String> quotedWords(String source) {
        return QUOTED_WORD.matcher(source).results().map(word -> word.group(2)).collect(Collectors.toUnmodifiableSet());
    }

    /** Returns whether the template uses a conversation's tools. */
    public boolean usesTools() {
        return usesTools;
    }

    /**
     * Returns whether the template for conversations without tools mentions the field {@code tool_calls} of messages.
     */
    public boolean namesToolCalls() {
        return namesToolCalls;
    }

    /**
     * Returns why a role is rejected, to follow its name in a message; empty if it is a role of OpenAI's API or a word
     * in quotes in the template's source.
     */
    public Optional<String> refusal(String role) {
        return ROLES.contains(role) || quotedWords.contains(role)
                ? Optional.empty()
                : Optional.of("is " + Quoted.name(role) + "; it must be " + String.join(", ", ROLES)
                        + " or another role in the model's chat template");
    }

    /**
     * Renders a conversation as a prompt.
     *
     * @throws io.roseinfer.base.RoseException.BadInput if the template rejects the conversation, or fails
     * @throws java.util.concurrent.CancellationException if the thread is interrupted, which is checked every few
     *     thousand steps; the interrupt status remains set
     */
    public String render(Conversation conversation) {
        Map<String, JsonNode> variables = new HashMap<>();
        JsonNodeFactory nodes = StrictJson.mapper().getNodeFactory();
        specialTokens.forEach((role, token) -> variables.put(role, nodes.stringNode(token)));
        variables.putAll(conversation.more());
        variables.put("messages", conversation.messages());
        variables.put("add_generation_prompt", nodes.booleanNode(conversation.addGenerationPrompt()));
        conversation.tools().ifPresent(tools -> variables.put("tools", tools));
        Template chosen = conversation.tools().isPresent() ? toolUse.orElse(template) : template;
        return chosen.render(variables, format -> Strftime.format(conversation.now(), format));
    }
}
