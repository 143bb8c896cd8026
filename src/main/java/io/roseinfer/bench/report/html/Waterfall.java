package io.roseinfer.bench.report.html;

import java.util.Comparator;
import java.util.List;
import java.util.Locale;

/**
 * The waterfall of a run as SVG: a bar for each request, from when it was due to its last token, cut into what it was waiting for, under a
 * strip of what the engine's steps did meanwhile. The colours of a request's prefill and of its tokens are those of the steps they need.
 */
final class Waterfall {
    /** More bars cannot be told apart; of longer runs those around the worst time to first token are drawn. */
    static final int MOST_REQUESTS = 200;

    private static final double WIDTH = 640;
    private static final double LEFT = 34;
    private static final double RIGHT = 14;
    private static final double STRIP = 24;
    private static final double TOP = 40;
    private static final double BOTTOM = 46;
    private static final double BARS = 400;
    private static final double THICKEST = 12;

    /** Slices of the strip of steps, two units wide each. */
    private static final int SLICES = 296;

    private static final double MILLIS_PER_SECOND = 1e3;

    /** A part of a bar: its word in the legend, and its colour: that of the same word where the page says where TTFT went. */
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
    private final double startMillis;
    private final double endMillis;
    private final double row;

    private Waterfall(ShownRun run) {
        this.run = run;
        this.ordered = run.requests().stream()
                .filter(request -> request.tokens().length > 0)
                .sorted(Comparator.comparingDouble(ShownRun.Request::due))
                .toList();
        this.first = first(ordered);
        this.drawn = ordered.subList(first, Math.min(ordered.size(), first + MOST_REQUESTS));
        this.startMillis =
                drawn.stream().mapToDouble(ShownRun.Request::due).min().orElse(0);
        this.endMillis = Math.max(
                startMillis + 1e-3,
                drawn.stream().mapToDouble(ShownRun.Request::end).max().orElse(0));
        this.row = Math.min(THICKEST, BARS / Math.max(1, drawn.size()));
    }

    /** The first request that is drawn: the one with the worst time to first token is in the middle, or as near to it as it can be. */
    private static int first(List<ShownRun.Request> ordered) {
        int worst = 0;
        for (int i = 1; i < ordered.size(); i++) {
            worst = ttft(ordered.get(i)) > ttft(ordered.get(worst)) ? i : worst;
        }
        return Math.max(0, Math.min(worst - MOST_REQUESTS / 2, ordered.size() - MOST_REQUESTS));
    }

    private static double ttft(ShownRun.Request request) {
        return request.tokens()[0] - request.due();
    }

    /**
     * The figure; nothing for a run without a token.
     *
     * @param of what its title adds
     */
    static String svg(ShownRun run, String of) {
        Waterfall waterfall = new Waterfall(run);
        return waterfall.drawn.isEmpty() ? "" : waterfall.figure("Requests over the engine's steps" + of);
    }

    private String figure(String title) {
        double bottom = TOP + row * drawn.size();
        StringBuilder out = new StringBuilder("<figure><figcaption>" + Markup.text(title) + "</figcaption>"
                + "<svg viewBox=\"0 0 640 " + Markup.at(bottom + BOTTOM) + "\" role=\"img\" aria-label=\""
                + Markup.text(title) + "\">");
        axis(out, bottom);
        strip(out);
        for (Part part : Part.values()) {
            StringBuilder path = new StringBuilder();
            for (int i = 0; i < drawn.size(); i++) {
                bar(path, part, drawn.get(i), TOP + i * row);
            }
            path(out, part.style, path);
        }
        return out.append("</svg>").append(legend()).append("</figure>\n").toString();
    }

    private void bar(StringBuilder path, Part part, ShownRun.Request request, double y) {
        double token = request.tokens()[0];
        double admitted =
                Double.isNaN(request.admitted()) ? token : Math.clamp(request.admitted(), request.sent(), token);
        double from =
                switch (part) {
                    case CLIENT -> request.due();
                    case QUEUE -> request.sent();
                    case PREFILL -> admitted;
                    case TOKENS -> token;
                };
        double to =
                switch (part) {
                    case CLIENT -> request.sent();
                    case QUEUE -> admitted;
                    case PREFILL -> token;
                    case TOKENS -> request.end();
                };
        if (to > from) {
            box(path, x(from), y, x(to) - x(from), row * (row > 4 ? 0.8 : 1));
        }
    }

    /** What share of each slice of time went to steps with prompt tokens, from below, and to steps without, on top of them. */
    private void strip(StringBuilder out) {
        double[] prompts = new double[SLICES];
        double[] decodes = new double[SLICES];
        for (ShownRun.Step step : run.engine().steps()) {
            add(step.hasPrompt() ? prompts : decodes, step);
        }
        StringBuilder below = new StringBuilder();
        StringBuilder above = new StringBuilder();
        double width = (WIDTH - LEFT - RIGHT) / SLICES;
        for (int i = 0; i < SLICES; i++) {
            double prompt = Math.min(1, prompts[i]);
            double decode = Math.min(1 - prompt, decodes[i]);
            double x = LEFT + i * width;
            if (prompt > 0) {
                box(below, x, 8 + STRIP * (1 - prompt), width, STRIP * prompt);
            }
            if (decode > 0) {
                box(above, x, 8 + STRIP * (1 - prompt - decode), width, STRIP * decode);
            }
        }
        path(out, Part.PREFILL.style, below);
        path(out, Part.TOKENS.style, above);
    }

    private void add(double[] shares, ShownRun.Step step) {
        double slice = (endMillis - startMillis) / SLICES;
        double from = (step.start() - startMillis) / slice;
        double to = (step.end() - startMillis) / slice;
        for (int i = Math.max(0, (int) from); i < Math.min(SLICES, to); i++) {
            shares[i] += Math.max(0, Math.min(i + 1, to) - Math.max(i, from));
        }
    }

    private static void path(StringBuilder out, int style, StringBuilder path) {
        if (!path.isEmpty()) {
            out.append("<path class=\"b" + style + "\" d=\"").append(path).append("\"/>");
        }
    }

    private static void box(StringBuilder path, double x, double y, double width, double height) {
        path.append(String.format(
                Locale.ROOT, "M%.1f %.1fh%.2fv%.2fh%.2fz", x, y, Math.max(0.4, width), height, -Math.max(0.4, width)));
    }

    private double x(double millis) {
        return LEFT + (millis - startMillis) / (endMillis - startMillis) * (WIDTH - LEFT - RIGHT);
    }

    private void axis(StringBuilder out, double bottom) {
        double step = Chart.even((endMillis - startMillis) / MILLIS_PER_SECOND).get(1);
        for (double tick = Math.ceil(startMillis / MILLIS_PER_SECOND / step) * step;
                tick * MILLIS_PER_SECOND <= endMillis;
                tick += step) {
            String at = Markup.at(x(tick * MILLIS_PER_SECOND));
            out.append("<line class=\"grid\" x1=\"" + at + "\" x2=\"" + at + "\" y1=\"8\" y2=\"" + Markup.at(bottom)
                    + "\"/><text class=\"tick\" text-anchor=\"middle\" x=\"" + at + "\" y=\"" + Markup.at(bottom + 18)
                    + "\">" + Markup.tick(tick) + "</text>");
        }
        String middle = Markup.at((TOP + bottom) / 2);
        out.append("<text class=\"label\" text-anchor=\"middle\" x=\"" + Markup.at((LEFT + WIDTH - RIGHT) / 2)
                + "\" y=\"" + Markup.at(bottom + BOTTOM - 8) + "\">s</text>"
                + "<text class=\"label\" text-anchor=\"middle\" x=\"18\" y=\"" + middle
                + "\" transform=\"rotate(-90 18 " + middle + ")\">requests</text>");
    }

    private String legend() {
        StringBuilder out = new StringBuilder("<p class=\"legend\">");
        boolean admissions = drawn.stream().anyMatch(request -> !Double.isNaN(request.admitted()));
        for (Part part : Part.values()) {
            if (part != Part.PREFILL || admissions) {
                String word = part == Part.QUEUE && !admissions ? "no token yet" : part.word;
                out.append("<span><i class=\"q q" + part.style + "\"></i>" + word + "</span> ");
            }
        }
        out.append("<br/>");
        if (drawn.size() == ordered.size()) {
            out.append("All " + Markup.number(drawn.size()) + " requests with a token, by when they were due.");
        } else {
            out.append("By when they were due, requests " + Markup.number(first + 1.0) + " to "
                    + Markup.number(first + (double) drawn.size()) + " of " + Markup.number(ordered.size())
                    + " with a token: those around the worst time to first token.");
        }
        if (!run.engine().steps().isEmpty()) {
            out.append(
                    " On top, the share of time in steps with prompt tokens (the colour of prefill) and in steps without.");
        }
        return out.append("</p>").toString();
    }
}
