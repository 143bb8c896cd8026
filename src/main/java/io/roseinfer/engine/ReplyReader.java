package io.roseinfer.engine;

import io.roseinfer.tokenizer.Tokenizer;
import io.roseinfer.tokenizer.chat.reply.ReplyDelta;
import io.roseinfer.tokenizer.chat.reply.ReplyFormat;
import io.roseinfer.tokenizer.chat.reply.ReplyParser;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/**
 * Splits the tokens of a reply into content, reasoning and tool calls as they arrive. One instance per reply; not
 * thread-safe.
 */
public final class ReplyReader {
    private final ReplyParser parser;
    /** The texts of special tokens that mark parts of the reply, by id. */
    private final Map<Integer, String> markers;

    private int acceptedChars;
    private int reasoningTokens;

    private ReplyReader(ReplyParser parser, Map<Integer, String> markers) {
        this.parser = parser;
        this.markers = markers;
    }

    /** Returns a reader of one reply; without a tokenizer there are no special tokens. */
    public static ReplyReader of(ReplyFormat format, Optional<Tokenizer> tokenizer) {
        return new ReplyReader(
                new ReplyParser(format), tokenizer.map(format::markers).orElse(Map.of()));
    }

    /** Takes the next token. */
    public void accept(GeneratedToken token) {
        boolean reasoned = parser.isReasoning();
        parser.accept(markers.getOrDefault(token.id(), ""));
        parser.accept(token.text());
        acceptedChars += token.text().length();
        if (reasoned || parser.isReasoning()) {
            reasoningTokens++;
        }
    }

    /** Ends the reply. Its completion may have more text than the tokens: see {@link TokenStream}. */
    public void end(Completion completion) {
        end(completion.text().orElse("").substring(acceptedChars));
    }

    /** Takes the text after the last token, and ends the reply. */
    public void end(String rest) {
        parser.accept(rest);
        parser.end();
    }

    /** Returns the parts that have become certain since the last call. */
    public List<ReplyDelta> take() {
        return parser.take();
    }

    /** Returns whether a tool call has started. */
    public boolean hasCalls() {
        return parser.hasCalls();
    }

    /** Returns the number of tokens in the reasoning, with its end marker. */
    public int reasoningTokens() {
        return reasoningTokens;
    }

    /** Returns the number of complete tool calls. */
    public int calls() {
        return parser.calls();
    }
}
