package io.roseinfer.tokenizer.chat.reply;

import io.roseinfer.tokenizer.AddedToken;
import io.roseinfer.tokenizer.Tokenizer;
import java.util.HashMap;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/**
 * The format of the replies to one prompt.
 *
 * @param calls the format of tool calls; {@code NONE} if the model may not call tools
 * @param reasoning the format of the reasoning
 * @param inReasoning whether the reply begins in the reasoning
 * @param oneCall whether calls after the first are dropped
 * @param omitReasoning whether the reasoning is dropped
 */
public record ReplyFormat(
        ToolCallFormat calls, ReasoningFormat reasoning, boolean inReasoning, boolean oneCall, boolean omitReasoning) {
    /** Everything is content. */
    public static final ReplyFormat PLAIN = of(ReplyFormats.NONE);

    public ReplyFormat {
        Objects.requireNonNull(calls, "calls");
        Objects.requireNonNull(reasoning, "reasoning");
    }

    /** Returns the format of replies that do not begin in the reasoning. */
    public static ReplyFormat of(ReplyFormats formats) {
        return new ReplyFormat(formats.calls(), formats.reasoning(), false, false, false);
    }

    /** Returns the format of replies to a rendered prompt. */
    public ReplyFormat after(String prompt) {
        return new ReplyFormat(calls, reasoning, reasoning.beginsAfter(prompt), oneCall, omitReasoning);
    }

    /** Returns the same format, with at most one call if {@code value}. */
    public ReplyFormat withOneCall(boolean value) {
        return new ReplyFormat(calls, reasoning, inReasoning, value, omitReasoning);
    }

    /** Returns the same format, without the reasoning if {@code value}. */
    public ReplyFormat withoutReasoning(boolean value) {
        return new ReplyFormat(calls, reasoning, inReasoning, oneCall, value);
    }

    /** Returns whether everything is content. */
    public boolean isPlain() {
        return calls == ToolCallFormat.NONE && reasoning == ReasoningFormat.NONE;
    }

    /**
     * Returns the texts of the special tokens that mark parts of a reply, by id. A completion's text omits special
     * tokens, so the parser needs these in addition.
     */
    public Map<Integer, String> markers(Tokenizer tokenizer) {
        Stream<String> thinking = reasoning == ReasoningFormat.NONE
                ? Stream.empty()
                : Stream.of(ReasoningFormat.BEGIN, ReasoningFormat.END);
        Set<String> texts = Stream.concat(calls.markers(), thinking).collect(Collectors.toSet());
        Map<Integer, String> markers = new HashMap<>();
        if (!texts.isEmpty()) {
            for (AddedToken token : tokenizer.addedTokens()) {
                if (token.special() && texts.contains(token.content())) {
                    markers.put(token.id(), token.content());
                }
            }
        }
        return markers;
    }
}
