package io.roseinfer.bench.report.html;

import io.roseinfer.metrics.StepRecord;
import io.roseinfer.metrics.StepRecord.Fact;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Locale;
import java.util.Optional;

/**
 * The waterfall chart of a run: a bar per request from its scheduled time to its last token, divided into phases, below a strip of the engine's
 * steps. Steps have the colors of the phases that they serve.
 */
final class Waterfall {
    /** Maximum bars, as more cannot be distinguished; of longer runs, those around the worst time to first token are drawn. */
    static final int MAX_REQUESTS = 200;

    private static final double LEFT = 34;
    private static final double RIGHT = Svg.WIDTH - 14;
    private static final double STRIP_TOP = 8;
    private static final double STRIP = 24;
    private static final double TOP = 40;
    private static final double BOTTOM = 50;
    private static final double BARS = 400;
    private static final double THICKEST = 12;

    /** Slices of the strip of steps, each two units wide. */
    private static final int SLICES = 296;

    private static final double NANOS_PER_SECOND = 1e9;

    /** A phase of a request, with its name in the legend and its color, which is the same in the TTFT breakdown. */
    private enum Part {
        CLIENT("due, not sent", 3),
        QUEUE("queue", 4),
        PREFILL("prefill", 5),
        TOKENS("tokens", 0);

        private final String word;
        private final int style;

        Part(String word, int style) {
            this.word = word;
            this.style = style;
        }
    }

    private final ShownRun run;
    private final List<ShownRun.Request> ordered;
    private final List<ShownRun.Request> drawn;
    private final int first;
    private final Axis time;
    private final double row;

    private Waterfall(ShownRun run) {
        this.run = run;
        this.ordered = run.requests().stream()
                .filter(ShownRun.Request::hasToken)
                .sorted(Comparator.comparingLong(ShownRun.Request::dueNanos))
                .toList();
        this.first = first(ordered);
        this.drawn = ordered.subList(first, Math.min(ordered.size(), first + MAX_REQUESTS));
        double start =
                drawn.stream().mapToLong(ShownRun.Request::dueNanos).min().orElse(0) / NANOS_PER_SECOND;
        double end = Math.max(
                start + 1e-6,
                drawn.stream().mapToLong(ShownRun.Request::endNanos).max().orElse(0) / NANOS_PER_SECOND);
        this.time = Axis.between(start, end, Axis.step(end - start), LEFT, RIGHT);
        this.row = Math.min(THICKEST, BARS / Math.max(1, drawn.size()));
    }

    /** Returns the first drawn request, such that the one with the worst time to first token is as near to the middle as possible. */
    private static int first(List<ShownRun.Request> ordered) {
        int worst = 0;
        for (int i = 1; i < ordered.size(); i++) {
            worst = ttft(ordered.get(i)) > ttft(ordered.get(worst)) ? i : worst;
        }
        return Math.max(0, Math.min(worst - MAX_REQUESTS / 2, ordered.size() - MAX_REQUESTS));
    }

    private static double ttft(ShownRun.Request request) {
        return request.ttftFromDueMillis().orElse(0);
    }

    /**
     * Returns the figure; empty for a run without tokens.
     *
     * @param of suffix of the title
     */
    static Optional<Block.Figure> figure(ShownRun run, String of) {
        Waterfall waterfall = new Waterfall(run);
        return waterfall.drawn.isEmpty()
                ? Optional.empty()
                : Optional.of(waterfall.figure("Requests over the engine's steps" + of));
    }

    private Block.Figure figure(String title) {
        double bottom = TOP + row * drawn.size();
        Svg svg = new Svg()
                .below(time, STRIP_TOP, bottom, "time (s)")
                .leftOf(new Axis(0, 1, TOP, bottom, false, List.of()), LEFT, RIGHT, "requests");
        strip(svg);
        for (Part part : Part.values()) {
            StringBuilder path = new StringBuilder();
            for (int i = 0; i < drawn.size(); i++) {
                bar(path, part, drawn.get(i), TOP + i * row);
            }
            svg.path("b" + part.style, path);
        }
        return new Block.Figure(title, bottom + BOTTOM, svg, legend(), notes());
    }

    private void bar(StringBuilder path, Part part, ShownRun.Request request, double y) {
        long token = request.firstNanos();
        long admitted = Math.clamp(request.admittedNanos().orElse(token), request.sentNanos(), token);
        long from =
                switch (part) {
                    case CLIENT -> request.dueNanos();
                    case QUEUE -> request.sentNanos();
                    case PREFILL -> admitted;
                    case TOKENS -> token;
                };
        long to =
                switch (part) {
                    case CLIENT -> request.sentNanos();
                    case QUEUE -> admitted;
                    case PREFILL -> token;
                    case TOKENS -> request.endNanos();
                };
        if (to > from) {
            double x = time.at(from / NANOS_PER_SECOND);
            box(path, x, y, time.at(to / NANOS_PER_SECOND) - x, row * (row > 4 ? 0.8 : 1));
        }
    }

    /** Draws the share of each slice of time in steps with prompt tokens, and on top of it in steps without. */
    private void strip(Svg svg) {
        double[] prompts = new double[SLICES];
        double[] decodes = new double[SLICES];
        for (StepRecord step : run.engine().steps()) {
            add(step.get(Fact.PREFILL_TOKENS) > 0 ? prompts : decodes, step);
        }
        StringBuilder below = new StringBuilder();
        StringBuilder above = new StringBuilder();
        double width = (RIGHT - LEFT) / SLICES;
        for (int i = 0; i < SLICES; i++) {
            double prompt = Math.min(1, prompts[i]);
            double decode = Math.min(1 - prompt, decodes[i]);
            double x = LEFT + i * width;
            if (prompt > 0) {
                box(below, x, STRIP_TOP + STRIP * (1 - prompt), width, STRIP * prompt);
            }
            if (decode > 0) {
                box(above, x, STRIP_TOP + STRIP * (1 - prompt - decode), width, STRIP * decode);
            }
        }
        svg.path("b" + Part.PREFILL.style, below).path("b" + Part.TOKENS.style, above);
    }

    private void add(double[] shares, StepRecord step) {
        double slice = (time.high() - time.low()) / SLICES;
        double from = (step.get(Fact.START_NANOS) / NANOS_PER_SECOND - time.low()) / slice;
        double to = (step.endNanos() / NANOS_PER_SECOND - time.low()) / slice;
        for (int i = Math.max(0, (int) from); i < Math.min(SLICES, to); i++) {
            shares[i] += Math.max(0, Math.min(i + 1, to) - Math.max(i, from));
        }
    }

    private static void box(StringBuilder path, double x, double y, double width, double height) {
        path.append(String.format(
                Locale.ROOT, "M%.1f %.1fh%.2fv%.2fh%.2fz", x, y, Math.max(0.4, width), height, -Math.max(0.4, width)));
    }

    private List<Block.Key> legend() {
        boolean admissions =
                drawn.stream().anyMatch(request -> request.admittedNanos().isPresent());
        List<Block.Key> legend = new ArrayList<>();
        for (Part part : Part.values()) {
            if (part != Part.PREFILL || admissions) {
                String word = part == Part.QUEUE && !admissions ? "no token yet" : part.word;
                legend.add(new Block.Key("q q" + part.style, word));
            }
        }
        return legend;
    }

    private List<String> notes() {
        String which = drawn.size() == ordered.size()
                ? "All " + Markup.number(drawn.size()) + " requests with a token, by scheduled time."
                : "Requests " + Markup.number(first + 1.0) + " to "
                        + Markup.number(first + (double) drawn.size()) + " of " + Markup.number(ordered.size())
                        + " with a token by scheduled time: those around the worst time to first token.";
        return List.of(
                which
                        + (run.engine().steps().isEmpty()
                                ? ""
                                : " Top: the share of time in steps with prompt tokens (the color of prefill) and in steps without."));
    }
}
