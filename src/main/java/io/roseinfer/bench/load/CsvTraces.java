package io.roseinfer.bench.load;

import io.roseinfer.base.Quoted;
import io.roseinfer.base.RoseException.BadInput;
import java.math.BigDecimal;
import java.time.DateTimeException;
import java.time.LocalDateTime;
import java.time.OffsetDateTime;
import java.time.ZoneOffset;
import java.util.Arrays;
import java.util.List;
import java.util.Optional;
import java.util.function.ToLongFunction;

/** Parser of CSV traces: column names in the first line, then a request per line. */
final class CsvTraces {
    private static final long NANOS_PER_SECOND = 1_000_000_000;
    /** Length of date and time without fraction; an offset from UTC may follow, as in {@code 2024-05-10 00:00:00.0+00:00}. */
    private static final int DATE_AND_TIME_CHARS = 19;

    static final Columns AZURE = new Columns("TIMESTAMP", "ContextTokens", "GeneratedTokens", CsvTraces::dateNanos);
    static final Columns BURSTGPT =
            new Columns("Timestamp", "Request tokens", "Response tokens", text -> nanos(text, NANOS_PER_SECOND));

    private CsvTraces() {}

    /** The column names, and the parser of times. */
    record Columns(String time, String input, String output, ToLongFunction<String> nanos) {
        /** Returns a reader of the lines below a header. */
        TraceFormat.LineReader reader(String header) {
            List<String> names = cells(header.replace("\uFEFF", ""));
            int timeAt = at(names, time);
            int inputAt = at(names, input);
            int outputAt = at(names, output);
            return line -> {
                List<String> cells = cells(line);
                if (cells.size() < names.size()) {
                    throw new BadInput("it has " + cells.size() + " columns; the first line has " + names.size());
                }
                int prompt = count(cells.get(inputAt), input);
                int completion = count(cells.get(outputAt), output);
                return prompt == 0 || completion == 0
                        ? Optional.empty()
                        : Optional.of(TraceEntry.ofLengths(nanos.applyAsLong(cells.get(timeAt)), prompt, completion));
            };
        }

        private static int at(List<String> names, String name) {
            int at = names.indexOf(name);
            if (at < 0) {
                throw new BadInput(
                        "column " + Quoted.name(name) + " is missing; the columns are " + Quoted.names(names));
            }
            return at;
        }
    }

    /** Splits a line into cells; quoted commas do not occur in these traces. */
    private static List<String> cells(String line) {
        return Arrays.stream(line.split(",", -1)).map(CsvTraces::unquoted).toList();
    }

    private static String unquoted(String cell) {
        String text = cell.strip();
        return text.length() > 1 && text.startsWith("\"") && text.endsWith("\"")
                ? text.substring(1, text.length() - 1)
                : text;
    }

    /** Parses a number of tokens; some tools write whole numbers with decimals. */
    private static int count(String text, String column) {
        try {
            int value = new BigDecimal(text).intValueExact();
            if (value >= 0) {
                return value;
            }
        } catch (ArithmeticException | NumberFormatException e) {
            // Reported below.
        }
        throw new BadInput(column + " is " + Quoted.name(text) + "; it must be a whole number, 0 or more");
    }

    /** Converts a time to nanoseconds. */
    static long nanos(String text, long nanosPerUnit) {
        try {
            return new BigDecimal(text)
                    .multiply(BigDecimal.valueOf(nanosPerUnit))
                    .setScale(0, java.math.RoundingMode.HALF_UP)
                    .longValueExact();
        } catch (ArithmeticException | NumberFormatException e) {
            throw new BadInput("the time is " + Quoted.name(text) + "; it must be a number", e);
        }
    }

    private static long dateNanos(String text) {
        String iso = text.replace(' ', 'T');
        try {
            boolean hasOffset = iso.length() > DATE_AND_TIME_CHARS
                    && iso.substring(DATE_AND_TIME_CHARS).matches(".*[+Z-].*");
            OffsetDateTime time = hasOffset
                    ? OffsetDateTime.parse(iso)
                    : LocalDateTime.parse(iso).atOffset(ZoneOffset.UTC);
            return Math.addExact(Math.multiplyExact(time.toEpochSecond(), NANOS_PER_SECOND), time.getNano());
        } catch (DateTimeException | ArithmeticException e) {
            throw new BadInput(
                    "TIMESTAMP is " + Quoted.name(text)
                            + "; it must be a date and a time, as in 2023-11-16 18:15:46.68059",
                    e);
        }
    }
}
