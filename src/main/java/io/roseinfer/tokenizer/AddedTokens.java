package io.roseinfer.tokenizer;

import io.roseinfer.base.RoseException.BadModel;
import java.util.Collection;
import java.util.Comparator;
import java.util.HashMap;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;

/**
 * The added tokens of all files of a tokenizer, with their ids in Hugging Face tokenizers, which the model was trained
 * on: a token in the vocabulary keeps its id, any other gets the next one, regardless of its file.
 */
final class AddedTokens {
    private final String description;
    private final Map<String, Integer> vocabulary;
    private final List<String> warnings;
    private final Map<String, AddedToken> byContent = new LinkedHashMap<>();
    private int maxId = -1;

    private AddedTokens(String description, Map<String, Integer> vocabulary, List<String> warnings) {
        this.description = description;
        this.vocabulary = vocabulary;
        this.warnings = warnings;
    }

    /**
     * Combines the tokens of all files like transformers.
     *
     * @param vocabulary the model's tokens in the byte alphabet
     * @param ofTokenizerJson {@code added_tokens} of {@code tokenizer.json}, if there is one
     * @param warnings receives a line for each token that has another id than in its file, or is dropped
     * @throws BadModel if a file contradicts itself or the vocabulary
     */
    static List<AddedToken> of(
            String description,
            Map<String, Integer> vocabulary,
            List<AddedToken> ofTokenizerJson,
            TokenizerConfig config,
            List<String> warnings) {
        AddedTokens tokens = new AddedTokens(description, vocabulary, warnings);
        tokens.requireConsistent(ofTokenizerJson);
        tokens.requireConsistent(config.addedTokens());
        if (!config.isGpt2()) {
            ofTokenizerJson.forEach(tokens::add);
            byId(config.addedTokens()).forEach(tokens::addOrChange);
        } else if (config.listsAddedTokens()) {
            byId(config.addedTokens()).forEach(tokens::add);
        } else {
            byId(tokens.both(ofTokenizerJson, config.addedTokens())).forEach(tokens::add);
        }
        config.specialTokens().all().forEach(tokens::addSpecial);
        ofTokenizerJson.forEach(tokens::warnIfLeftOut);
        return List.copyOf(tokens.byContent.values());
    }

    private static List<AddedToken> byId(Collection<AddedToken> tokens) {
        return tokens.stream().sorted(Comparator.comparingInt(AddedToken::id)).toList();
    }

    private Collection<AddedToken> both(List<AddedToken> first, List<AddedToken> second) {
        Set<AddedToken> all = new LinkedHashSet<>(first);
        all.addAll(second);
        requireDistinctIds(all);
        return all;
    }

    private void add(AddedToken token) {
        if (byContent.containsKey(token.content())) {
            return;
        }
        int id = vocabulary.getOrDefault(token.content(), Math.max(maxId + 1, vocabulary.size()));
        if (token.id() != AddedToken.NO_ID && token.id() != id) {
            warnings.add(description + ": the added token \"" + token.content() + "\" has id " + token.id()
                    + " in its file; " + id + " is used, as in Hugging Face tokenizers");
        }
        maxId = Math.max(maxId, id);
        byContent.put(token.content(), token.withId(id));
    }

    /** Adds a token; an existing one keeps its id and gets the other properties. */
    private void addOrChange(AddedToken token) {
        AddedToken there = byContent.get(token.content());
        if (there == null) {
            add(token);
        } else {
            AddedToken changed = token.withId(there.id());
            byContent.put(token.content(), there.special() ? changed.asSpecial() : changed);
        }
    }

    private void addSpecial(AddedToken token) {
        add(token);
        byContent.computeIfPresent(token.content(), (content, added) -> added.asSpecial());
    }

    private void warnIfLeftOut(AddedToken token) {
        if (!byContent.containsKey(token.content())) {
            warnings.add(description + ": the added token \"" + token.content()
                    + "\" is not in added_tokens_decoder of tokenizer_config.json, which GPT2Tokenizer uses; it is"
                    + " ignored");
        }
    }

    private void requireConsistent(List<AddedToken> file) {
        requireDistinctIds(file);
        Set<String> contents = new HashSet<>();
        for (AddedToken token : file) {
            if (!contents.add(token.content())) {
                throw refused("the added token \"" + token.content() + "\" is listed twice");
            }
            int id = vocabulary.getOrDefault(token.content(), token.id());
            if (id != token.id()) {
                throw refused("the added token \"" + token.content() + "\" has id " + token.id()
                        + ", but in the vocabulary it has " + id);
            }
        }
    }

    private void requireDistinctIds(Collection<AddedToken> tokens) {
        Map<Integer, String> names = new HashMap<>();
        vocabulary.forEach((token, id) -> names.putIfAbsent(id, token));
        for (AddedToken token : tokens) {
            String other = names.putIfAbsent(token.id(), token.content());
            if (other != null && !other.equals(token.content())) {
                throw refused(
                        "the tokens \"" + other + "\" and \"" + token.content() + "\" have the same id " + token.id());
            }
        }
    }

    private BadModel refused(String complaint) {
        return new BadModel(description + ": " + complaint);
    }
}
