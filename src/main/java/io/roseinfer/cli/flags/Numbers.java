package io.roseinfer.cli.flags;

import java.util.Arrays;
import java.util.List;
import java.util.stream.Collectors;
import picocli.CommandLine.ITypeConverter;

/** A comma-separated list of whole numbers. */
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

    /** Parses a list that {@link Within.Check} has accepted. */
    public static final class Parser implements ITypeConverter<Numbers> {
        @Override
        public Numbers convert(String text) {
            return new Numbers(Arrays.stream(text.split(",", -1))
                    .map(part -> Integer.valueOf(part.strip()))
                    .toList());
        }
    }
}
