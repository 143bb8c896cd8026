package io.roseinfer.cli.flags;

import java.util.Arrays;
import java.util.List;
import java.util.stream.Collectors;
import picocli.CommandLine.ITypeConverter;

/** Whole numbers with commas between them. */
public record Numbers(List<Integer> values) {
    public Numbers {
        values = List.copyOf(values);
    }

    static Numbers of(int... values) {
        return new Numbers(Arrays.stream(values).boxed().toList());
    }

    public int[] toArray() {
        return values.stream().mapToInt(Integer::intValue).toArray();
    }

    @Override
    public String toString() {
        return values.stream().map(String::valueOf).collect(Collectors.joining(","));
    }

    /** Reads them after {@link Within.Check} has. */
    public static final class Parser implements ITypeConverter<Numbers> {
        @Override
        public Numbers convert(String text) {
            return new Numbers(Arrays.stream(text.split(",", -1))
                    .map(part -> Integer.valueOf(part.strip()))
                    .toList());
        }
    }
}
