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
 * @param byRole such as {@code pad_token}; empty where a file says null
 * @param others {@code additional_special_tokens} and tokens of roles that are the model's own
 */
record SpecialTokens(Map<String, Optional<AddedToken>> byRole, List<AddedToken> others) {
    static final SpecialTokens NONE = new SpecialTokens(Map.of(), List.of());

    static final String BEGIN_OF_TEXT_ROLE = "bos_token";
    static final String END_OF_TEXT_ROLE = "eos_token";

    /** In the order in which transformers gives out ids. */
    private static final List<String> ROLES = List.of(
            BEGIN_OF_TEXT_ROLE, END_OF_TEXT_ROLE, "unk_token", "sep_token", "pad_token", "cls_token", "mask_token");

    /** The roles that {@code <|endoftext|>} has for GPT-2 where no file says another. */
    private static final List<String> GPT2_ROLES = ROLES.subList(0, 3);

    private static final List<String> LISTS = List.of("additional_special_tokens", "extra_special_tokens");

    /**
     * Reads the fields of an object that name special tokens; the others are left alone.
     *
     * @param onlySpecial whether the object lists nothing else, so that a token need not be marked as special
     */
    static SpecialTokens read(JsonView object, boolean onlySpecial) {
        Map<String, Optional<AddedToken>> byRole = new LinkedHashMap<>();
        List<AddedToken> own = new ArrayList<>();
        List<AddedToken> others = new ArrayList<>();
        object.fields().forEach(entry -> {
            JsonView value = entry.getValue();
            if (ROLES.contains(entry.getKey())) {
                byRole.put(entry.getKey(), token(value, onlySpecial));
            } else if (LISTS.contains(entry.getKey()) && !value.isAbsent()) {
                boolean named = value.node().isObject();
                Stream<JsonView> tokens = named ? value.fields().map(Map.Entry::getValue) : value.elements();
                tokens.map(token -> token(token, onlySpecial))
                        .flatMap(Optional::stream)
                        .forEach(named ? own::add : others::add);
            } else if (entry.getKey().endsWith("_token") && value.node().isString()) {
                token(value, onlySpecial).ifPresent(own::add);
            }
        });
        return new SpecialTokens(
                byRole, Stream.concat(own.stream(), others.stream()).toList());
    }

    /** A token spelt as a string or as an object with {@code content}. */
    private static Optional<AddedToken> token(JsonView token, boolean onlySpecial) {
        if (token.isAbsent()) {
            return Optional.empty();
        }
        AddedToken read = token.node().isObject()
                ? TokenReader.addedToken(token, AddedToken.NO_ID, onlySpecial)
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
        AddedToken endOfText = AddedToken.special(AddedToken.NO_ID, BpeModel.END_OF_TEXT);
        GPT2_ROLES.forEach(role -> all.putIfAbsent(role, Optional.of(endOfText)));
        return new SpecialTokens(all, others);
    }

    /** All of them, those with a role first. */
    Stream<AddedToken> all() {
        Stream<AddedToken> roles =
                ROLES.stream().map(byRole::get).filter(Objects::nonNull).flatMap(Optional::stream);
        return Stream.concat(roles, others.stream());
    }

    /** The text of the token with a role: the one that a file names, none if it says null, else the one given. */
    Optional<String> contentOf(String role, String ifNotNamed) {
        return byRole.containsKey(role) ? byRole.get(role).map(AddedToken::content) : Optional.of(ifNotNamed);
    }

    /** The token that ends a text, if a file names one. */
    Optional<String> endOfText() {
        return byRole.getOrDefault(END_OF_TEXT_ROLE, Optional.empty()).map(AddedToken::content);
    }
}
