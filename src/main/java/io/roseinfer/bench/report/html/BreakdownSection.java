package io.roseinfer.bench.report.html;

import io.roseinfer.bench.report.BreakdownTable;
import io.roseinfer.bench.report.ServeResult;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.function.Function;

/** The section with a run's latency breakdown, as bars and tables. */
final class BreakdownSection {
    private static final double LEFT = 110;
    private static final double RIGHT = Svg.WIDTH - 14;
    private static final double TOP = 8;
    private static final double ROW = 34;
    private static final int STYLES = 6;
    private static final int SLOWEST = 10;

    private static final Map<String, Function<BreakdownTable, Map<String, Double>>> COLUMNS = columns();

    private BreakdownSection() {}

    private static Map<String, Function<BreakdownTable, Map<String, Double>>> columns() {
        Map<String, Function<BreakdownTable, Map<String, Double>>> columns = new LinkedHashMap<>();
        columns.put("mean", BreakdownTable::all);
        columns.put("around p50", BreakdownTable::median);
        columns.put("p98 and up", BreakdownTable::tail);
        return columns;
    }

    /** Returns the definitions of the section's terms. */
    static Map<String, String> definitions() {
        Map<String, String> words = new LinkedHashMap<>();
        words.put(
                "Dispatch",
                "from when a request was due until it was sent: the client was late, or waited for a concurrency limit");
        words.put("Send", "until the server had received the last byte of the body");
        words.put("Parse", "until the request was parsed");
        words.put("Tokenize", "until the prompt was tokenized and the request queued");
        words.put("Queue", "until the request was admitted");
        words.put("Prefill", "until the device finished the step that ends the prompt");
        words.put("Sample", "until the engine had the token");
        words.put("Deliver", "until the responding thread had the token");
        words.put("Write", "until its event was written to the socket");
        words.put("Read", "until the client read it: network and client");
        words.put(
                "Unattributed",
                "the rest, if timestamps are missing or out of order: a client may read an event before the server's write returns");
        words.put("Decode, prompts", "in a gap between two tokens: steps without and with prompt tokens");
        words.put("Idle", "in a gap: the engine outside of steps");
        words.put(
                "Delivery",
                "in a gap: the change of the delay between engine and client since the previous token; negative if the client caught up");
        words.put(
                "Mean, around p50, p98 and up",
                "means of the parts over all samples, over the fifth around the median, and over those from the 98th percentile up");
        words.put(
                "By percentile",
                "means of the parts over slices of the samples, the shortest first; a part that grows to the right causes the tail");
        return words;
    }

    /** Returns the section; empty if the server sent no timestamps. */
    static List<Block> blocks(String name, ServeResult.Own own) {
        if (own.ttftParts().isEmpty()) {
            return List.of();
        }
        BreakdownTable first = own.ttftParts().get();
        Optional<BreakdownTable> gaps = own.itlParts();
        List<Block.Figure> figures = new ArrayList<>();
        figures.add(bars("Time to first token, from the scheduled time", first));
        BreakdownByRank.figure("Time to first token", "requests", first).ifPresent(figures::add);
        gaps.ifPresent(parts -> {
            figures.add(bars("Time between tokens", parts));
            BreakdownByRank.figure("Time between tokens", "gaps", parts).ifPresent(figures::add);
        });
        List<Block> blocks = new ArrayList<>();
        blocks.add(Block.Heading.of("Where the time went: " + name));
        blocks.add(new Block.Figures(figures));
        blocks.add(table(first));
        gaps.map(BreakdownSection::table).ifPresent(blocks::add);
        slowest(own.requests(), first.all()).ifPresent(blocks::add);
        gaps(blocks, own);
        return blocks;
    }

    /** Draws a bar of parts for each column. */
    private static Block.Figure bars(String title, BreakdownTable parts) {
        double longest = COLUMNS.values().stream()
                .mapToDouble(column -> column.apply(parts).values().stream()
                        .mapToDouble(millis -> Math.max(0, millis))
                        .sum())
                .reduce(1e-9, Math::max);
        Axis millis = Axis.upTo(longest, LEFT, RIGHT);
        double bottom = TOP + ROW * COLUMNS.size();
        Svg svg = new Svg().below(millis, TOP, bottom, "ms");
        double y = TOP;
        for (Map.Entry<String, Function<BreakdownTable, Map<String, Double>>> column : COLUMNS.entrySet()) {
            svg.text("tick", Svg.Anchor.END, LEFT - 8, y + ROW / 2 + 2, column.getKey());
            double x = LEFT;
            int style = 0;
            for (double part : column.getValue().apply(parts).values()) {
                double width = millis.at(Math.max(0, part)) - LEFT;
                svg.rect(color("b", style++), x, y, width, ROW - 10);
                x += width;
            }
            y += ROW;
        }
        List<Block.Key> legend = new ArrayList<>();
        parts.all().keySet().forEach(part -> legend.add(key(legend.size(), part)));
        return new Block.Figure(title, bottom + 50, svg, legend, List.of());
    }

    /** Returns one of six colors; further parts use paler ones. */
    static String color(String kind, int style) {
        return kind + style % STYLES + (style < STYLES ? "" : " pale");
    }

    /** Returns the legend entry of a part. */
    static Block.Key key(int style, String part) {
        return new Block.Key("q " + color("q", style), word(part));
    }

    /** Returns the displayed name of a part. */
    private static String word(String part) {
        return part.replace('_', '-');
    }

    private static Block.Table table(BreakdownTable parts) {
        List<String> head = new ArrayList<>(List.of("ms"));
        head.addAll(COLUMNS.keySet());
        List<List<String>> rows = new ArrayList<>();
        for (String part : parts.all().keySet()) {
            List<Double> values = COLUMNS.values().stream()
                    .map(column -> column.apply(parts).getOrDefault(part, 0.0))
                    .toList();
            boolean absent = values.stream().allMatch(millis -> millis == 0);
            List<String> row = new ArrayList<>(List.of(word(part)));
            values.forEach(millis -> row.add(absent ? "–" : BreakdownTable.millis(millis)));
            rows.add(row);
        }
        return new Block.Table(head, rows);
    }

    /** Returns a table of the slowest first tokens with their nonzero parts. */
    private static Optional<Block> slowest(List<ServeResult.Request> requests, Map<String, Double> names) {
        List<ServeResult.Request> slowest = requests.stream()
                .filter(request -> request.ttftParts().isPresent())
                .sorted(Comparator.comparingDouble(request -> -request.ttftMillis()))
                .limit(SLOWEST)
                .toList();
        if (slowest.isEmpty()) {
            return Optional.empty();
        }
        List<String> parts = names.keySet().stream()
                .filter(part -> slowest.stream().anyMatch(request -> part(request, part) != 0))
                .toList();
        List<String> head = new ArrayList<>(List.of("slowest first tokens", "prompt tokens", "ms"));
        parts.forEach(part -> head.add(word(part)));
        List<List<String>> rows = new ArrayList<>();
        for (ServeResult.Request request : slowest) {
            List<String> row = new ArrayList<>(List.of(
                    "request " + request.id(),
                    request.promptTokens() < 0 ? "text" : "" + request.promptTokens(),
                    Markup.number(request.ttftMillis())));
            parts.forEach(part -> row.add(Markup.number(part(request, part))));
            rows.add(row);
        }
        return Optional.of(new Block.Table(head, rows));
    }

    private static double part(ServeResult.Request request, String part) {
        return request.ttftParts().map(parts -> parts.getOrDefault(part, 0.0)).orElse(0.0);
    }

    private static void gaps(List<Block> blocks, ServeResult.Own own) {
        if (own.longestGaps().isEmpty()) {
            return;
        }
        if (own.gapsWithoutSteps() > 0) {
            blocks.add(new Block.Paragraph(Markup.number(own.gapsWithoutSteps())
                    + " gaps are not in the breakdown: an engine keeps only its newest steps."));
        }
        List<List<String>> rows = new ArrayList<>();
        for (ServeResult.LongGap gap : own.longestGaps()) {
            List<String> row = new ArrayList<>(
                    List.of("request " + gap.request() + ", token " + gap.token(), Markup.number(gap.millis())));
            row.addAll(
                    gap.step().isPresent()
                            ? List.of(
                                    "" + gap.step().getAsLong(),
                                    Markup.number(gap.stepMillis().orElse(0)),
                                    "" + gap.rows().orElse(0),
                                    "" + gap.prefillTokens().orElse(0))
                            : List.of("–", "–", "–", "–"));
            rows.add(row);
        }
        blocks.add(new Block.Table(
                List.of("longest gaps", "ms", "waited for step", "of ms", "rows", "prompt tokens"), rows));
    }
}
