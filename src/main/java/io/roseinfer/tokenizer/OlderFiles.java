package io.roseinfer.tokenizer;

import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.stream.Collectors;

/**
 * The files that listed added tokens before {@code tokenizer_config.json} did.
 *
 * @param ids {@code added_tokens.json}: ids by token
 * @param special {@code special_tokens_map.json}
 */
record OlderFiles(Map<String, Integer> ids, SpecialTokens special) {

    /** The tokens of {@code added_tokens.json}; those that a file names as special are. */
    List<AddedToken> added(SpecialTokens named) {
        Set<String> specials = named.all().map(AddedToken::content).collect(Collectors.toSet());
        return ids.entrySet().stream()
                .filter(entry -> !entry.getKey().isEmpty())
                .map(entry -> {
                    boolean isSpecial = specials.contains(entry.getKey());
                    return new AddedToken(entry.getValue(), entry.getKey(), isSpecial, false, false, false, !isSpecial);
                })
                .toList();
    }
}
