package io.roseinfer.cli.flags;

import io.roseinfer.bench.ModelPoint;
import java.util.Arrays;
import java.util.List;
import java.util.function.Function;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import picocli.CommandLine.ITypeConverter;
import picocli.CommandLine.TypeConversionException;

/** Parsers of step shapes: {@code 256,16x259} for prefill, {@code 1,8,32} for decode, or {@code none}. */
public final class Shapes {
    private static final Pattern SHAPE = Pattern.compile("(?:([1-9][0-9]{0,4})x)?([1-9][0-9]{0,5})");
    private static final String NONE = "none";

    private Shapes() {}

    /** A possibly empty list of shapes. */
    public record Points(List<ModelPoint> values) {
        public Points {
            values = List.copyOf(values);
        }

        public static Points of(ModelPoint... values) {
            return new Points(List.of(values));
        }

        @Override
        public String toString() {
            return values.stream().map(Shapes::text).collect(Collectors.joining(","));
        }
    }

    private static String text(ModelPoint point) {
        return switch (point) {
            case ModelPoint.Prefill prefill ->
                prefill.rows() == 1 ? "" + prefill.tokens() : prefill.rows() + "x" + prefill.tokens();
            case ModelPoint.Decode decode -> "" + decode.rows();
        };
    }

    public static final class Prefills implements ITypeConverter<Points> {
        @Override
        public Points convert(String text) {
            return points(text, part -> {
                Matcher shape = SHAPE.matcher(part);
                if (!shape.matches()) {
                    throw new TypeConversionException(
                            "'" + part + "' is not TOKENS or ROWSxTOKENS, as in 256 or 16x259, nor " + NONE);
                }
                int rows = shape.group(1) == null ? 1 : Integer.parseInt(shape.group(1));
                return new ModelPoint.Prefill(rows, Integer.parseInt(shape.group(2)));
            });
        }
    }

    public static final class Decodes implements ITypeConverter<Points> {
        @Override
        public Points convert(String text) {
            return points(text, part -> {
                Matcher shape = SHAPE.matcher(part);
                if (!shape.matches() || shape.group(1) != null || part.length() > 4) {
                    throw new TypeConversionException("'" + part + "' is not a number of rows, 1 to 9999, nor " + NONE);
                }
                return new ModelPoint.Decode(Integer.parseInt(part));
            });
        }
    }

    private static Points points(String text, Function<String, ModelPoint> parse) {
        if (text.equals(NONE)) {
            return Points.of();
        }
        return new Points(
                Arrays.stream(text.split(",", -1)).map(String::strip).map(parse).toList());
    }
}
