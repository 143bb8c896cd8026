package io.roseinfer.grammar;

import io.roseinfer.base.RoseException.BadInput;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.function.BooleanSupplier;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.node.StringNode;

/**
 * Puts the properties of a JSON value into an order that a grammar allows, as {@code creation/reorder.py} of MaskBench
 * did with LLGuidance: an object takes a property that may come next, preferably one that excludes none of the others.
 * After a dead end it takes another one, {@value #MAX_TRIES} times for the value: first without a change to finished
 * objects and arrays, then with changes.
 */
final class PropertyOrder {
    private static final int MAX_TRIES = 10_000;

    private static final TokenTrie BYTES = bytes();

    private final GrammarCursor cursor;
    private final boolean changesFinished;
    /** The bytes that the cursor has read, and others after them. */
    private final byte[] text;

    private int tries;

    private PropertyOrder(GrammarCursor cursor, int bytes, boolean changesFinished) {
        this.cursor = cursor;
        this.changesFinished = changesFinished;
        text = new byte[2 * bytes]; // A name is tried after a text that may have it already.
    }

    private static TokenTrie bytes() {
        byte[][] single = new byte[256][];
        for (int i = 0; i < single.length; i++) {
            single[i] = new byte[] {(byte) i};
        }
        return TokenTrie.of(TokenVocabulary.of(single, Map.of()));
    }

    /** Returns a value's text with its properties in an order that the grammar allows, or null if none is found. */
    static @Nullable String text(Grammar grammar, JsonNode value) {
        try {
            CompiledGrammar compiled = CompiledGrammar.compile(grammar, BYTES, GrammarLimits.DEFAULT);
            int bytes = MaskBench.text(value).getBytes(StandardCharsets.UTF_8).length;
            for (boolean changesFinished : new boolean[] {false, true}) {
                PropertyOrder order = new PropertyOrder(compiled.newCursor(), bytes, changesFinished);
                if (order.read(value, order.cursor::isAccepting)) {
                    return new String(order.text, 0, order.cursor.length(), StandardCharsets.UTF_8);
                }
            }
            return null;
        } catch (BadInput e) { // of a limit
            return null;
        }
    }

    /** Goes on by a value and then by what follows it, maybe in part if the grammar does not allow them. */
    private boolean read(JsonNode value, BooleanSupplier rest) {
        if (value.isEmpty()) {
            return read(MaskBench.text(value)) && rest.getAsBoolean();
        }
        BooleanSupplier next = changesFinished ? rest : () -> true;
        boolean isRead = value.isArray()
                ? read("[") && readElements(value, 0, next)
                : read("{") && readProperties(new ArrayList<>(value.properties()), next, new HashSet<>());
        return isRead && (changesFinished || rest.getAsBoolean());
    }

    private boolean readElements(JsonNode array, int from, BooleanSupplier rest) {
        return read(
                array.get(from),
                () -> from + 1 == array.size()
                        ? read("]") && rest.getAsBoolean()
                        : read(", ") && readElements(array, from + 1, rest));
    }

    /** Goes on by properties in some order; {@code dead} has the parser states tried, with the properties left. */
    private boolean readProperties(
            List<Map.Entry<String, JsonNode>> left, BooleanSupplier rest, Set<List<Object>> dead) {
        if (left.isEmpty()) {
            return read("}") && rest.getAsBoolean();
        }
        List<Map.Entry<String, JsonNode>> possible =
                left.stream().filter(property -> mayFollow(name(property))).toList();
        int start = cursor.length();
        for (boolean mayExclude : new boolean[] {false, true}) {
            for (Map.Entry<String, JsonNode> property : possible) {
                if (++tries > MAX_TRIES) {
                    return false;
                }
                List<Map.Entry<String, JsonNode>> others = new ArrayList<>(left);
                others.remove(property);
                BooleanSupplier next = () -> (mayExclude || excludesNone(others, possible))
                        && dead.add(List.of(cursor.state(), others))
                        && (others.isEmpty() || read(", "))
                        && readProperties(others, rest, dead);
                if (read(name(property)) && read(property.getValue(), next)) {
                    return true;
                }
                cursor.rollback(cursor.length() - start);
            }
        }
        return false;
    }

    private boolean excludesNone(
            List<Map.Entry<String, JsonNode>> others, List<Map.Entry<String, JsonNode>> possible) {
        return others.stream().allMatch(other -> !possible.contains(other) || mayFollow(", " + name(other)));
    }

    private static String name(Map.Entry<String, JsonNode> property) {
        return StringNode.valueOf(property.getKey()) + ": ";
    }

    private boolean mayFollow(String more) {
        int start = cursor.length();
        boolean follows = read(more);
        cursor.rollback(cursor.length() - start);
        return follows;
    }

    /** Goes on by a text, maybe in part if the grammar does not allow it. */
    private boolean read(String more) {
        for (byte each : more.getBytes(StandardCharsets.UTF_8)) {
            if (!cursor.advance(each & 0xFF)) {
                return false;
            }
            text[cursor.length() - 1] = each;
        }
        return true;
    }
}
