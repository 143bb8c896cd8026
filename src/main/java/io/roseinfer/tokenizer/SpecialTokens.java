package io.roseinfer.tokenizer;

import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.stream.Stream;

/**
 * The special tokens that files name, by their role or without one. They are added tokens, whether or not a list of added tokens has
 * them too.
 *
 * @param byRole such as {@code pad_token}, also roles of one model such as {@code image_token}; empty where a file says null
 * @param others {@code additional_special_tokens}
 */
record SpecialTokens(Map<String, Optional<AddedToken>> byRole, List<AddedToken> others) {
    static final SpecialTokens NONE = new SpecialTokens(Map.of(), List.of());

    static final String BEGIN_OF_TEXT_ROLE = "bos_token";
    static final String END_OF_TEXT_ROLE = "eos_token";
    private static final String UNKNOWN_ROLE = "unk_token";
    private static final String PADDING_ROLE = "pad_token";

    /** In the order in which transformers gives out ids. */
    private static final List<String> ROLES = List.of(
            BEGIN_OF_TEXT_ROLE, END_OF_TEXT_ROLE, UNKNOWN_ROLE, "sep_token", PADDING_ROLE, "cls_token", "mask_token");

    /** The tokens that {@code <|endoftext|>} is for GPT-2 if no file names others. */
    private static final Map<String, String> GPT2 = Map.of(
            BEGIN_OF_TEXT_ROLE, BpeModel.END_OF_TEXT,
            END_OF_TEXT_ROLE, BpeModel.END_OF_TEXT,
            UNKNOWN_ROLE, BpeModel.END_OF_TEXT);

    /** The tokens by role that the other classes of transformers have if no file names others. */
    private static final Map<String, Map<String, String>> DEFAULTS = Map.of(
            "LlamaTokenizer",
            Map.of(BEGIN_OF_TEXT_ROLE, "<s>", END_OF_TEXT_ROLE, "</s>", UNKNOWN_ROLE, "<unk>"),
            "GPTNeoXTokenizer",
            Map.of(
                    BEGIN_OF_TEXT_ROLE, BpeModel.END_OF_TEXT,
                    END_OF_TEXT_ROLE, BpeModel.END_OF_TEXT,
                    UNKNOWN_ROLE, BpeModel.END_OF_TEXT,
                    PADDING_ROLE, "<|padding|>"),
            "Qwen2Tokenizer",
            Map.of(
                    END_OF_TEXT_ROLE, BpeModel.END_OF_TEXT,
                    UNKNOWN_ROLE, BpeModel.END_OF_TEXT,
                    PADDING_ROLE, BpeModel.END_OF_TEXT));

    private static final List<String> LISTS = List.of("additional_special_tokens", "extra_special_tokens");

    /**
     * Reads the fields of an object that name special tokens; the others are left alone.
     *
     * @param onlySpecial whether the object lists nothing else, so that a token need not be marked as special
     */
    static SpecialTokens read(JsonView object, boolean onlySpecial) {
        Map<String, Optional<AddedToken>> byRole = new LinkedHashMap<>();
        List<AddedToken> others = new ArrayList<>();
        object.fields().forEach(entry -> {
            JsonView value = entry.getValue();
            if (ROLES.contains(entry.getKey())) {
                byRole.put(entry.getKey(), token(value, onlySpecial));
            } else if (LISTS.contains(entry.getKey()) && !value.isAbsent()) {
                if (value.node().isObject()) {
                    value.fields().forEach(named -> byRole.put(named.getKey(), token(named.getValue(), onlySpecial)));
                } else {
                    value.elements()
                            .map(token -> token(token, onlySpecial))
                            .flatMap(Optional::stream)
                            .forEach(others::add);
                }
            } else if (entry.getKey().endsWith("_token") && value.node().isString()) {
                byRole.put(entry.getKey(), token(value, onlySpecial));
            }
        });
        return new SpecialTokens(byRole, others);
    }

    /** A token spelt as a string or as an object with {@code content}. */
    private static Optional<AddedToken> token(JsonView token, boolean onlySpecial) {
        if (token.isAbsent()) {
            return Optional.empty();
        }
        AddedToken read = token.node().isObject()
                ? AddedToken.read(token, AddedToken.NO_ID, onlySpecial)
                : AddedToken.special(AddedToken.NO_ID, token.text());
        return read.content().isEmpty() ? Optional.empty() : Optional.of(read.asSpecial());
    }

    /** These, with the tokens of another file in the place of those it also names. */
    SpecialTokens overriddenBy(SpecialTokens file) {
        Map<String, Optional<AddedToken>> both = new LinkedHashMap<>(byRole);
        both.putAll(file.byRole);
        return new SpecialTokens(both, file.others.isEmpty() ? others : file.others);
    }

    /** These, with {@code <|endoftext|>} in the roles it has for GPT-2 if no file speaks of them. */
    SpecialTokens withGpt2Defaults() {
        Map<String, Optional<AddedToken>> all = new LinkedHashMap<>(byRole);
        GPT2.forEach((role, token) -> all.putIfAbsent(role, Optional.of(AddedToken.special(AddedToken.NO_ID, token))));
        return new SpecialTokens(all, others);
    }

    /** All of them, those with a role first. */
    Stream<AddedToken> all() {
        Stream<String> roles =
                Stream.concat(ROLES.stream(), byRole.keySet().stream().filter(role -> !ROLES.contains(role)));
        return Stream.concat(
                roles.map(byRole::get).filter(Objects::nonNull).flatMap(Optional::stream), others.stream());
    }

    /**
     * Returns the text of each role's token: the one that a file names, none if it says null, else the class's default.
     *
     * @param className a class of transformers; one without known defaults has none
     */
    Map<String, String> contents(String className) {
        Map<String, String> contents = new LinkedHashMap<>(DEFAULTS.getOrDefault(className, Map.of()));
        byRole.forEach((role, token) -> {
            contents.remove(role);
            token.ifPresent(present -> contents.put(role, present.content()));
        });
        return contents;
    }

    /** The text of the token with a role: the one that a file names, none if it says null, else the one given. */
    Optional<String> contentOf(String role, String ifNotNamed) {
        return byRole.containsKey(role) ? byRole.get(role).map(AddedToken::content) : Optional.of(ifNotNamed);
    }
}
