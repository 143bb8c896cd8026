package io.roseinfer.bench.report.html;

import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.Locale;
import java.util.Objects;
import java.util.Optional;

/** Writes blocks as a self-contained page that is also well-formed XML. The only class that converts text to markup. */
final class Page {
    /** The shapes of {@link Svg#mark}. */
    private static final String GLYPHS = "●■▲◆▼✚";

    private final StringBuilder out = new StringBuilder(1 << 16);

    private Page() {}

    /** Returns the page of blocks, with a title of the caller or a general one. */
    static String of(Optional<String> title, List<Block> blocks) {
        Page page = new Page();
        page.out
                .append("<!DOCTYPE html>\n<html lang=\"en\"><head><meta charset=\"utf-8\"/>")
                .append("<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\"/>")
                .append(
                        "<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; style-src 'unsafe-inline'\"/>")
                .append("<title>" + Markup.text(title.orElse("roseinfer: benchmark report")) + "</title><style>")
                .append(style())
                .append("</style></head><body><main>\n<h1>" + Markup.text(title.orElse("Benchmark report"))
                        + "</h1>\n");
        blocks.forEach(page::block);
        return page.out.append("</main></body></html>\n").toString();
    }

    /** Returns the markup of a figure. */
    static String of(Block.Figure figure) {
        Page page = new Page();
        page.figure(figure);
        return page.out.toString();
    }

    /** Returns the style sheet, a resource in this package. */
    static String style() {
        try (InputStream in = Objects.requireNonNull(Page.class.getResourceAsStream("report.css"), "report.css")) {
            return new String(in.readAllBytes(), StandardCharsets.UTF_8);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    private void block(Block block) {
        switch (block) {
            case Block.Heading heading ->
                element("h" + heading.level(), heading.text()).append('\n');
            case Block.Paragraph paragraph -> element("p", paragraph.text()).append('\n');
            case Block.Verdict verdict -> verdict(verdict);
            case Block.Table table -> table(table);
            case Block.Terms terms -> terms(terms);
            case Block.Figures figures -> {
                out.append("<div class=\"charts\">\n");
                figures.figures().forEach(this::figure);
                out.append("</div>\n");
            }
        }
    }

    private StringBuilder element(String name, String text) {
        return out.append('<' + name + '>' + Markup.text(text) + "</" + name + '>');
    }

    private void verdict(Block.Verdict verdict) {
        out.append("<section class=\"verdict " + verdict.tone().name().toLowerCase(Locale.ROOT) + "\">");
        for (Block.Piece piece : verdict.pieces()) {
            switch (piece) {
                case Block.Piece.Plain plain -> out.append(Markup.text(plain.text()));
                case Block.Piece.Strong strong -> element("strong", strong.text());
                case Block.Piece.End end -> out.append("<br/>");
                case Block.Piece.Items items -> {
                    out.append("<ul>");
                    items.texts().forEach(text -> element("li", text));
                    out.append("</ul>");
                }
            }
        }
        out.append("</section>\n");
    }

    private void table(Block.Table table) {
        out.append("<div class=\"scroll\"><table><thead><tr>");
        table.head().forEach(cell -> element("th", cell));
        out.append("</tr></thead><tbody>");
        for (List<String> row : table.rows()) {
            out.append("<tr>");
            for (int i = 0; i < row.size(); i++) {
                int span = i == row.size() - 1 ? table.head().size() - i : 1;
                if (span > 1) {
                    out.append("<td colspan=\"" + span + "\">" + Markup.text(row.get(i)) + "</td>");
                } else {
                    element(i < table.names() ? "th" : "td", row.get(i));
                }
            }
            out.append("</tr>");
        }
        out.append("</tbody></table></div>\n");
    }

    private void terms(Block.Terms terms) {
        out.append("<dl>");
        for (Block.Term term : terms.terms()) {
            element("dt", term.word());
            if (term.code()) {
                out.append("<dd><code>" + Markup.text(term.meaning()) + "</code></dd>");
            } else {
                element("dd", term.meaning());
            }
        }
        out.append("</dl>\n");
    }

    /** Adds the sample of a legend entry. The style sheet draws lines and areas; marks are characters. */
    private void sample(Block.Key key) {
        if (!key.style().startsWith("g ")) {
            out.append("<i class=\"" + key.style() + "\"></i>");
        }
        key.shape()
                .ifPresent(shape -> out.append("<i class=\"g g" + key.color() + "\">"
                        + (shape < GLYPHS.length() ? GLYPHS.charAt(shape) : '●') + "</i>"));
    }

    private void figure(Block.Figure figure) {
        out.append("<figure>");
        element("figcaption", figure.title());
        out.append("<svg viewBox=\"0 0 640 " + Markup.at(figure.height()) + "\" role=\"img\" aria-label=\""
                + Markup.text(figure.title()) + "\">" + figure.drawing() + "</svg>");
        if (!figure.legend().isEmpty() || !figure.notes().isEmpty()) {
            out.append("<p class=\"legend\">");
            figure.legend().forEach(key -> {
                out.append("<span>");
                sample(key);
                out.append(Markup.text(key.text()) + "</span> ");
            });
            figure.notes().forEach(note -> out.append("<br/>" + Markup.text(note)));
            out.append("</p>");
        }
        out.append("</figure>\n");
    }
}
