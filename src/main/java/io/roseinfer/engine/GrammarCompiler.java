package io.roseinfer.engine;

import io.roseinfer.base.RoseException.BadInput;
import io.roseinfer.grammar.CompiledGrammar;
import io.roseinfer.grammar.Grammar;
import io.roseinfer.grammar.GrammarLimits;
import io.roseinfer.grammar.TokenTrie;
import io.roseinfer.grammar.TokenVocabulary;
import io.roseinfer.model.ModelSpec;
import io.roseinfer.tokenizer.AddedToken;
import io.roseinfer.tokenizer.Tokenizer;
import io.roseinfer.tokenizer.Vocabulary;
import java.util.HashMap;
import java.util.Iterator;
import java.util.LinkedHashMap;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * Compiles grammars for a model and caches them, the least recently used first to go. The vocabulary's prefix tree is
 * built with the first grammar. Thread-safe.
 */
final class GrammarCompiler {
    /** Maximum size of the cached grammars' states and masks. */
    private static final long MAX_CACHE_BYTES = 256L << 20;

    /** The share of the heap that they may use is one in this number. */
    private static final int HEAP_SHARE = 16;

    private static final int CACHED_GRAMMARS = 256;

    private final Tokenizer tokenizer;
    private final ModelSpec spec;
    private final GrammarLimits limits;
    private final long cacheBytes =
            Math.min(MAX_CACHE_BYTES, Runtime.getRuntime().maxMemory() / HEAP_SHARE);
    private final Map<Grammar, CompiledGrammar> cache = new LinkedHashMap<>(16, .75f, true);
    private @Nullable TokenTrie trie;

    GrammarCompiler(Tokenizer tokenizer, ModelSpec spec, GrammarLimits limits) {
        this.tokenizer = tokenizer;
        this.spec = spec;
        this.limits = limits;
    }

    /**
     * Returns a compiled grammar.
     *
     * @throws BadInput if the grammar exceeds a limit, has no text or names a special token that the model does not have
     */
    CompiledGrammar compile(Grammar grammar) {
        CompiledGrammar known = cached(grammar);
        if (known != null) {
            return known;
        }
        CompiledGrammar made = CompiledGrammar.compile(grammar, trie(), limits);
        add(grammar, made);
        return made;
    }

    private @Nullable CompiledGrammar cached(Grammar grammar) {
        synchronized (cache) {
            return cache.get(grammar);
        }
    }

    private void add(Grammar grammar, CompiledGrammar made) {
        synchronized (cache) {
            cache.put(grammar, made);
            long bytes = cache.values().stream()
                    .mapToLong(CompiledGrammar::cachedBytes)
                    .sum();
            Iterator<CompiledGrammar> oldest = cache.values().iterator();
            while (cache.size() > 1 && (bytes > cacheBytes || cache.size() > CACHED_GRAMMARS)) {
                bytes -= oldest.next().cachedBytes();
                oldest.remove();
            }
        }
    }

    private synchronized TokenTrie trie() {
        if (trie == null) {
            trie = TokenTrie.of(vocabulary(tokenizer, spec));
        }
        return trie;
    }

    /**
     * Returns the bytes of the model's tokens. Special tokens and the model's end-of-text tokens have none; a grammar
     * allows special ones by name.
     */
    static TokenVocabulary vocabulary(Tokenizer tokenizer, ModelSpec spec) {
        Vocabulary words = tokenizer.vocabulary();
        byte[] @Nullable [] bytes = new byte[spec.vocabularySize()][];
        for (int id = 0; id < Math.min(bytes.length, words.size()); id++) {
            if (!words.isSpecial(id) && !spec.endOfText().contains(id)) {
                bytes[id] = words.bytes(id);
            }
        }
        Map<String, Integer> special = new HashMap<>();
        for (AddedToken token : tokenizer.addedTokens()) {
            if (words.isSpecial(token.id()) && token.id() < bytes.length) {
                special.put(token.content(), token.id());
            }
        }
        return TokenVocabulary.of(bytes, special);
    }
}
