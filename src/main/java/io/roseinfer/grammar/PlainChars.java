package io.roseinfer.grammar;

import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/**
 * The plain characters: those that JSON strings have without an escape, except DEL. An automaton over the bytes of one
 * character. Immutable and thread-safe.
 */
final class PlainChars {
    static final int DEAD = -1;

    private static final CodePointSet PLAIN =
            CodePointSet.ofRanges(0, 0x1F, '"', '"', '\\', '\\', 0x7F, 0x7F).complement();
    private static final int BYTES = 256;

    /** Next state by state and byte. State 0 is the start. */
    private final int[][] next;

    private final int end;

    PlainChars() {
        ByteRegexTable table = new ByteRegexTable(BYTES, BYTES);
        ByteRegex start = new RegexCompiler(table, () -> {}).compile(Regex.chars(PLAIN));
        ByteClasses classes = table.seal();
        Map<ByteRegex, Integer> states = new HashMap<>(Map.of(start, 0));
        List<ByteRegex> order = new ArrayList<>(List.of(start));
        List<int[]> rows = new ArrayList<>();
        for (int state = 0; state < order.size(); state++) {
            int[] row = new int[BYTES];
            for (int value = 0; value < BYTES; value++) {
                ByteRegex derived = table.next(order.get(state), classes.of((byte) value));
                if (derived != table.none && states.putIfAbsent(derived, order.size()) == null) {
                    order.add(derived);
                }
                row[value] = states.getOrDefault(derived, DEAD);
            }
            rows.add(row);
        }
        next = rows.toArray(int[][]::new);
        end = states.getOrDefault(table.empty, DEAD);
    }

    /** Returns the state after a byte, unsigned; {@link #DEAD} if no plain character goes on so. */
    int next(int state, int value) {
        return next[state][value];
    }

    /** Returns the state after a whole character. */
    int end() {
        return end;
    }

    /** Returns the number of characters of a text, or -1 if it is not a sequence of plain characters. */
    int count(byte[] text) {
        int count = 0;
        int state = 0;
        for (byte value : text) {
            state = next[state][value & 0xFF];
            if (state == DEAD) {
                return -1;
            }
            if (state == end) {
                count++;
                state = 0;
            }
        }
        return state == 0 ? count : -1;
    }

    /** Returns one byte of each class that neither this automaton nor the classes split. */
    int[] representatives(ByteClasses classes) {
        Map<List<Integer>, Integer> first = new HashMap<>();
        for (int value = 0; value < BYTES; value++) {
            List<Integer> column = new ArrayList<>(List.of(classes.of((byte) value)));
            for (int[] row : next) {
                column.add(row[value]);
            }
            first.putIfAbsent(column, value);
        }
        return first.values().stream().mapToInt(i -> i).sorted().toArray();
    }
}
