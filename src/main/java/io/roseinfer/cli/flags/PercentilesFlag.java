package io.roseinfer.cli.flags;

import java.util.Arrays;
import java.util.List;
import picocli.CommandLine.Help.Visibility;
import picocli.CommandLine.ITypeConverter;
import picocli.CommandLine.Option;
import picocli.CommandLine.TypeConversionException;

/** The flag for the percentiles of latencies. */
@Heading("Results")
public final class PercentilesFlag {
    private static final List<Double> DEFAULT = List.of(99.0);

    static final class PercentileList implements ITypeConverter<List<Double>> {
        @Override
        public List<Double> convert(String text) {
            try {
                List<Double> all =
                        Arrays.stream(text.split(",", -1)).map(Double::valueOf).toList();
                if (all.stream().allMatch(value -> value >= 0 && value <= 100)) {
                    return all;
                }
            } catch (NumberFormatException notNumber) {
                // Reported below.
            }
            throw new TypeConversionException("'" + text + "' is not a list of numbers from 0 to 100, as in 50,90,99");
        }
    }

    @Option(
            names = "--metric-percentiles",
            paramLabel = "<P[,P...]>",
            converter = PercentileList.class,
            description = "Percentiles to print of each metric (default: 99).",
            showDefaultValue = Visibility.NEVER)
    private List<Double> percentiles = DEFAULT;

    /** Returns the percentiles, 0 to 100. */
    public List<Double> values() {
        return percentiles;
    }
}
