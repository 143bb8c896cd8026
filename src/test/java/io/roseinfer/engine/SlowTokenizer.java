package io.roseinfer.engine;

import io.roseinfer.tokenizer.AddedToken;
import io.roseinfer.tokenizer.Tokenizer;
import io.roseinfer.tokenizer.Vocabulary;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.OptionalInt;
import java.util.Set;

/** A tokenizer that blocks on certain prompts until they are released. */
final class SlowTokenizer implements Tokenizer {
    /** The prefix of such prompts. */
    static final String SLOW = "slow ";

    private final Tokenizer tokenizer;
    private final Set<String> released = new HashSet<>();

    SlowTokenizer(Tokenizer tokenizer) {
        this.tokenizer = tokenizer;
    }

    /** Releases a prompt. */
    void release(String text) {
        released.add(text);
    }

    @Override
    public int[] encode(String text) {
        if (text.startsWith(SLOW)) {
            Weaver.await(() -> released.contains(text));
        }
        return tokenizer.encode(text);
    }

    @Override
    public int[] encodeOrdinary(String text) {
        return tokenizer.encodeOrdinary(text);
    }

    @Override
    public Vocabulary vocabulary() {
        return tokenizer.vocabulary();
    }

    @Override
    public List<AddedToken> addedTokens() {
        return tokenizer.addedTokens();
    }

    @Override
    public Map<String, String> specialTokens() {
        return tokenizer.specialTokens();
    }

    @Override
    public OptionalInt endOfText() {
        return tokenizer.endOfText();
    }

    @Override
    public List<String> warnings() {
        return tokenizer.warnings();
    }

    @Override
    public String description() {
        return tokenizer.description();
    }
}
