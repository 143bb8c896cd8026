package io.roseinfer.tokenizer;

import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.stream.Stream;

/**
 * The special tokens in files, with or without a role. They are added tokens, whether or not they are listed as such.
 *
 * @param byRole such as {@code pad_token}, including roles of single models such as {@code image_token}; empty if a
 *     file has null
 * @param others {@code additional_special_tokens}
 */
record SpecialTokens(Map<String, Optional<AddedToken>> byRole, List<AddedToken> others) {
    static final SpecialTokens NONE = new SpecialTokens(Map.of(), List.of());

    static final String BEGIN_OF_TEXT_ROLE = "bos_token";
    static final String END_OF_TEXT_ROLE = "eos_token";
    private static final String UNKNOWN_ROLE = "unk_token";
    private static final String PADDING_ROLE = "pad_token";

    /** Roles in the order in which transformers assigns ids. */
    private static final List<String> ROLES = List.of(
            BEGIN_OF_TEXT_ROLE, END_OF_TEXT_ROLE, UNKNOWN_ROLE, "sep_token", PADDING_ROLE, "cls_token", "mask_token");

    /** The roles of {@code <|endoftext|>} for GPT-2 by default. */
    private static final Map<String, String> GPT2 = Map.of(
            BEGIN_OF_TEXT_ROLE, BpeModel.END_OF_TEXT,
            END_OF_TEXT_ROLE, BpeModel.END_OF_TEXT,
            UNKNOWN_ROLE, BpeModel.END_OF_TEXT);

    /** The default tokens by role of other classes of transformers. */
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
     * Reads the fields of an object that are special tokens, and ignores others.
     *
     * @param onlySpecial whether the object has nothing else, so that tokens need not be marked as special
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

    /** Reads a token given as a string or as an object with {@code content}. */
    private static Optional<AddedToken> token(JsonView token, boolean onlySpecial) {
        if (token.isAbsent()) {
            return Optional.empty();
        }
        AddedToken read = token.node().isObject()
                ? AddedToken.read(token, AddedToken.NO_ID, onlySpecial)
                : AddedToken.special(AddedToken.NO_ID, token.text());
        return read.content().isEmpty() ? Optional.empty() : Optional.of(read.asSpecial());
    }

    /** Returns these tokens, overridden by another file's. */
    SpecialTokens overriddenBy(SpecialTokens file) {
        Map<String, Optional<AddedToken>> both = new LinkedHashMap<>(byRole);
        both.putAll(file.byRole);
        return new SpecialTokens(both, file.others.isEmpty() ? others : file.others);
    }

    /** Returns these tokens, with {@code <|endoftext|>} in its GPT-2 roles unless a file sets them. */
    SpecialTokens withGpt2Defaults() {
        Map<String, Optional<AddedToken>> all = new LinkedHashMap<>(byRole);
        GPT2.forEach((role, token) -> all.putIfAbsent(role, Optional.of(AddedToken.special(AddedToken.NO_ID, token))));
        return new SpecialTokens(all, others);
    }

    /** Returns all tokens, those with a role first. */
    Stream<AddedToken> all() {
        Stream<String> roles =
                Stream.concat(ROLES.stream(), byRole.keySet().stream().filter(role -> !ROLES.contains(role)));
        return Stream.concat(
                roles.map(byRole::get).filter(Objects::nonNull).flatMap(Optional::stream), others.stream());
    }

    /**
     * Returns the text of each role's token: the file's, none if it is null, else the class's default.
     *
     * @param className a class of transformers; an unknown class has no defaults
     */
    Map<String, String> contents(String className) {
        Map<String, String> contents = new LinkedHashMap<>(DEFAULTS.getOrDefault(className, Map.of()));
        byRole.forEach((role, token) -> {
            contents.remove(role);
            token.ifPresent(present -> contents.put(role, present.content()));
        });
        return contents;
    }

    /** Returns the text of the token with a role: the file's, none if it is null, else the default. */
    Optional<String> contentOf(String role, String ifNotNamed) {
        return byRole.containsKey(role) ? byRole.get(role).map(AddedToken::content) : Optional.of(ifNotNamed);
    }
}
