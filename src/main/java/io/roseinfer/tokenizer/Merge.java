package io.roseinfer.tokenizer;

import io.roseinfer.base.RoseException.BadModel;
import java.util.List;
import java.util.Map;

/**
 * Two tokens, in the byte alphabet, that merge into their concatenation.
 *
 * @param where its location, for messages
 */
record Merge(String where, String left, String right) {

    /** Parses {@code "left right"}. */
    static Merge parse(String where, String line) {
        int space = line.indexOf(' ');
        if (space < 0 || line.indexOf(' ', space + 1) >= 0) {
            throw new BadModel(where + " is \"" + line + "\", expected two tokens with one space between them");
        }
        return new Merge(where, line.substring(0, space), line.substring(space + 1));
    }

    /** Parses {@code "left right"} or {@code ["left", "right"]}. */
    static Merge parse(JsonView merge) {
        if (!merge.node().isArray()) {
            return parse(merge.where(), merge.text());
        }
        List<String> pair = merge.elements().map(JsonView::text).toList();
        if (pair.size() != 2) {
            throw merge.refused("has " + pair.size() + " tokens, expected 2");
        }
        return new Merge(merge.where(), pair.get(0), pair.get(1));
    }

    /** Returns the merges as a table; a repeated pair is a warning. */
    static MergeTable table(List<Merge> merges, Map<String, Integer> ids, List<String> warnings) {
        MergeTable table = new MergeTable(merges.size());
        for (Merge merge : merges) {
            int result = merge.idOf(merge.left + merge.right, ids);
            if (!table.add(merge.idOf(merge.left, ids), merge.idOf(merge.right, ids), result)) {
                warnings.add(merge.where + " repeats the merge \"" + merge.left + " " + merge.right
                        + "\"; the last one is used, as in Hugging Face tokenizers");
            }
        }
        return table;
    }

    private int idOf(String token, Map<String, Integer> ids) {
        Integer id = ids.get(token);
        if (id == null) {
            throw new BadModel(where + " \"" + left + " " + right + "\" needs the token \"" + token
                    + "\", which is not in the vocabulary; vocabulary and merges must be from the same tokenizer");
        }
        return id;
    }
}
