package io.roseinfer.bench.report.html;

import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/**
 * Writes a figure as a stand-alone SVG document: with title, legend, and attributes instead of the page's style sheet, so that programs without
 * CSS draw it too. Texts stay texts. Areas are hatched and lines dashed, so that they differ without colors.
 */
final class FigureFile {
    private static final double TITLE_HEIGHT = 30;
    private static final double LEGEND_ROW = 20;
    private static final double LEGEND_LEFT = 16;
    private static final double SAMPLE = 24;

    private static final int LEGEND_SIZE = 13;

    /** Height and font size of a line of the notes and the source. */
    private static final double SOURCE_ROW = 13;

    private static final int SOURCE_SIZE = 10;

    private static final String SOFT = "#3f474f";
    private static final List<String> COLORS =
            List.of("#1f6fb4", "#d1591a", "#2f8f4e", "#8a4fb5", "#a3262e", "#5d6a00", SOFT, "#1a7f4b");
    private static final List<String> DASHES = List.of("", "7 3", "2 3", "9 3 2 3", "", "4 4", "", "");

    /** The hatching of each area, as a path in a square of six units. */
    private static final List<String> HATCHES =
            List.of("", "M-1 7L7 -1", "M0 3h6", "M-1 -1L7 7", "M3 0v6", "M-1 7L7 -1M-1 -1L7 7");

    private static final Pattern CLASS = Pattern.compile("class=\"([^\"]*)\"");
    private static final Pattern ATTRIBUTE = Pattern.compile("([\\w-]+)=\"[^\"]*\"");
    private static final String LINE = "fill=\"none\" stroke=\"%s\" stroke-width=\"2\" stroke-linejoin=\"round\"";
    private static final Map<Character, String> SHAPES = Map.of(
            's', LINE,
            'c', LINE,
            'd', "stroke-linecap=\"butt\"",
            'm', "fill=\"%s\" stroke=\"#ffffff\" stroke-width=\"1\"",
            'h', "fill=\"#ffffff\" stroke=\"%s\" stroke-width=\"2\"",
            'r', "fill=\"none\" stroke=\"%s\" stroke-width=\"2\"",
            'a', "fill=\"%s\" fill-opacity=\"0.18\"",
            'b', "fill=\"url(#hatch%2$d)\"");

    private FigureFile() {}

    /**
     * Adds the documents of figures to files by name, made from the name of the results and the title.
     *
     * @param name name of the figures' results; empty for figures of several
     * @param source the command and commit of the results; empty if unknown
     * @param hasCaption whether notes and the source are below the drawing; the description always has them
     */
    static void addAll(
            Map<String, String> files, String name, String source, List<Block.Figure> figures, boolean hasCaption) {
        for (Block.Figure figure : figures) {
            String file = (name + " " + figure.title())
                    .toLowerCase(Locale.ROOT)
                    .replaceAll("[^\\p{L}\\p{N}]+", "-")
                    .replaceAll("^-|-$", "");
            String unique = file;
            for (int number = 2; files.containsKey(unique + ".svg"); number++) {
                unique = file + "-" + number;
            }
            files.put(unique + ".svg", of(figure, source, hasCaption));
        }
    }

    /**
     * Returns the document of a figure.
     *
     * @param source the command and commit of its results, shown below its notes; empty if unknown
     * @param hasCaption whether notes and the source are below the drawing; the description always has them
     */
    static String of(Block.Figure figure, String source, boolean hasCaption) {
        StringBuilder legend = new StringBuilder();
        double y = TITLE_HEIGHT + figure.height() + 4;
        double x = LEGEND_LEFT;
        for (Block.Key key : figure.legend()) {
            double width = SAMPLE + 8 + Svg.width(key.text(), LEGEND_SIZE) + 16;
            if (x > LEGEND_LEFT && x + width > Svg.WIDTH) {
                x = LEGEND_LEFT;
                y += LEGEND_ROW;
            }
            legend.append(sample(key, x, y)).append(text("start", x + SAMPLE + 6, y + 4, LEGEND_SIZE, "", key.text()));
            x += width;
        }
        double height = figure.legend().isEmpty() ? TITLE_HEIGHT + figure.height() : y + LEGEND_ROW - 4;
        StringBuilder below = new StringBuilder();
        Stream<String> texts = hasCaption ? Stream.concat(figure.notes().stream(), Stream.of(source)) : Stream.of();
        for (String line : texts.flatMap(text -> lines(text).stream()).toList()) {
            below.append(text("start", LEGEND_LEFT, height + SOURCE_ROW - 4, SOURCE_SIZE, "", line))
                    .append('\n');
            height += SOURCE_ROW;
        }
        height += below.isEmpty() ? 0 : SOURCE_ROW / 2;
        String size = " width=\"" + Markup.at(Svg.WIDTH) + "\" height=\"" + Markup.at(height) + "\"";
        return "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<svg xmlns=\"http://www.w3.org/2000/svg\"" + size
                + " viewBox=\"0 0 " + Markup.at(Svg.WIDTH) + " " + Markup.at(height)
                + "\" font-family=\"Helvetica, Arial, sans-serif\">\n<title>" + Markup.text(figure.title())
                + "</title>\n" + description(figure, source) + hatches()
                + "<rect" + size + " fill=\"#ffffff\"/>\n"
                + text("middle", Svg.WIDTH / 2, 20, 15, " font-weight=\"bold\"", figure.title())
                + "\n<g transform=\"translate(0 " + Markup.at(TITLE_HEIGHT) + ")\">\n"
                + withAttributes(figure.drawing().toString()) + "\n</g>\n" + withAttributes(legend.toString())
                + "\n" + below + "</svg>\n";
    }

    /** Returns the notes of a figure, or else what it compares, and the source; empty if it has none. */
    private static String description(Block.Figure figure, String source) {
        List<String> compared = figure.legend().stream().map(Block.Key::text).toList();
        String text = figure.notes().isEmpty() ? String.join(", ", compared) : String.join(" ", figure.notes());
        String all = Stream.of(text, source)
                .filter(part -> !part.isEmpty())
                .collect(Collectors.joining(text.endsWith(".") ? " " : ". "));
        return all.isEmpty() ? "" : "<desc>" + Markup.text(all) + "</desc>\n";
    }

    /** Breaks a text into lines of the width of a drawing. */
    private static List<String> lines(String text) {
        List<String> lines = new ArrayList<>();
        StringBuilder line = new StringBuilder();
        for (String word : text.split(" ")) {
            if (!line.isEmpty() && !fits(line + " " + word)) {
                lines.add(line.toString());
                line.setLength(0);
            }
            line.append(line.isEmpty() ? "" : " ");
            for (int next : word.codePoints().toArray()) {
                if (!fits(line + Character.toString(next))) {
                    lines.add(line.toString());
                    line.setLength(0);
                }
                line.appendCodePoint(next);
            }
        }
        if (!line.isEmpty()) {
            lines.add(line.toString());
        }
        return lines;
    }

    private static boolean fits(String line) {
        return Svg.width(line, SOURCE_SIZE) <= Svg.WIDTH - 2 * LEGEND_LEFT;
    }

    private static String text(String anchor, double x, double y, int size, String more, String text) {
        return "<text text-anchor=\"" + anchor + "\" x=\"" + Markup.at(x) + "\" y=\"" + Markup.at(y) + "\" font-size=\""
                + size + "\" fill=\"#000000\"" + more + ">" + Markup.text(text) + "</text>";
    }

    /** Draws the sample of a legend entry: a line, a mark or an area. */
    private static Svg sample(Block.Key key, double x, double y) {
        Svg svg = new Svg();
        String style = key.style();
        if (style.startsWith("k")) {
            String line = (style.contains(" d") ? "c" : "s") + style.substring(1);
            svg.polyline(line, List.of(new Svg.Point(x, y), new Svg.Point(x + SAMPLE, y)));
        } else if (style.startsWith("q")) {
            String pale = style.endsWith("pale") ? " pale" : "";
            svg.rect("b" + key.color() + pale, x + 5, y - 7, SAMPLE - 10, 14);
        }
        key.shape().ifPresent(shape -> svg.mark("m" + key.color(), shape, x + SAMPLE / 2, y, 4));
        return svg;
    }

    private static String hatches() {
        StringBuilder hatches = new StringBuilder("<defs>");
        for (int i = 0; i < HATCHES.size(); i++) {
            hatches.append("<pattern id=\"hatch" + i
                    + "\" width=\"6\" height=\"6\" patternUnits=\"userSpaceOnUse\"><rect width=\"6\" height=\"6\" fill=\""
                    + COLORS.get(i) + "\"/>"
                    + (HATCHES.get(i).isEmpty()
                            ? ""
                            : "<path d=\"" + HATCHES.get(i) + "\" stroke=\"#ffffff\" stroke-width=\"1.2\"/>")
                    + "</pattern>");
        }
        return hatches.append("</defs>\n").toString();
    }

    private static String withAttributes(String drawing) {
        return CLASS.matcher(drawing).replaceAll(match -> {
            Map<String, String> byName = new LinkedHashMap<>();
            for (String style : match.group(1).split(" ")) {
                ATTRIBUTE.matcher(attributes(style)).results().forEach(one -> byName.put(one.group(1), one.group()));
            }
            return Matcher.quoteReplacement(String.join(" ", byName.values()));
        });
    }

    /** Returns the attributes for a class of the page's style sheet; a later class has precedence. */
    static String attributes(String style) {
        return switch (style) {
            case "grid" -> "stroke=\"#d0d5da\" stroke-width=\"1\"";
            case "zero" -> "stroke=\"" + SOFT + "\" stroke-width=\"1.5\"";
            case "tick", "label" -> "font-size=\"13\" fill=\"#000000\"";
            case "strong" -> "font-size=\"13\" font-weight=\"bold\" fill=\"#000000\"";
            case "wide" -> "stroke-width=\"5\"";
            case "casing" -> "fill=\"none\" stroke=\"#ffffff\" stroke-width=\"2\"";
            case "pale" -> "opacity=\"0.5\"";
            default -> {
                int number = style.charAt(1) - '0';
                String shape = SHAPES.getOrDefault(style.charAt(0), "");
                String dash = "sd".indexOf(style.charAt(0)) >= 0 ? DASHES.get(number) : "";
                if (shape.isEmpty()) {
                    throw new IllegalArgumentException("no attributes for the class " + style);
                }
                yield String.format(Locale.ROOT, shape, COLORS.get(number), number)
                        + (dash.isEmpty() ? "" : " stroke-dasharray=\"" + dash + "\"");
            }
        };
    }
}
