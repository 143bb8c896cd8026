package io.roseinfer.bench.report.html;

import io.roseinfer.bench.compare.OfRuns;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.OptionalInt;

/** A part of the report. Its texts are plain; {@link Page} escapes them. */
sealed interface Block {
    /** A heading of the second or third level. */
    record Heading(int level, String text) implements Block {
        static Heading of(String text) {
            return new Heading(2, text);
        }
    }

    /** A paragraph. */
    record Paragraph(String text) implements Block {}

    /** The color of a verdict box. */
    enum Tone {
        GOOD,
        WARN,
        BAD
    }

    /** A box with the validity and the conclusion of results. */
    record Verdict(Tone tone, List<Piece> pieces) implements Block {
        Verdict(Tone tone) {
            this(tone, new ArrayList<>());
        }

        Verdict strong(String text) {
            pieces.add(new Piece.Strong(text));
            return this;
        }

        Verdict text(String text) {
            pieces.add(new Piece.Plain(text));
            return this;
        }

        /** Ends a line. */
        Verdict end() {
            pieces.add(new Piece.End());
            return this;
        }

        Verdict items(List<String> texts) {
            pieces.add(new Piece.Items(texts));
            return this;
        }

        /** Adds the sources of simulated times. */
        Verdict simulated(List<OfRuns> sources) {
            sources.forEach(source -> strong(source.named("Simulated time")).text(", " + source.value() + ". "));
            return this;
        }
    }

    /** A part of a verdict box. */
    sealed interface Piece {
        record Plain(String text) implements Piece {}

        record Strong(String text) implements Piece {}

        record End() implements Piece {}

        record Items(List<String> texts) implements Piece {}
    }

    /**
     * A table. The last cell of a row that is shorter than the head spans the remaining columns.
     *
     * @param names number of leading header cells in each row
     */
    record Table(int names, List<String> head, List<List<String>> rows) implements Block {
        Table(List<String> head, List<List<String>> rows) {
            this(1, head, rows);
        }
    }

    /** A list of terms and their meanings. */
    record Terms(List<Term> terms) implements Block {
        static Terms of(Map<String, String> meanings) {
            return new Terms(meanings.entrySet().stream()
                    .map(word -> new Term(word.getKey(), word.getValue(), false))
                    .toList());
        }

        /** Creates a list of names with values formatted as code. */
        static Terms code(Map<String, String> values) {
            return new Terms(values.entrySet().stream()
                    .map(name -> new Term(name.getKey(), name.getValue(), true))
                    .toList());
        }
    }

    /** A term and its meaning, possibly formatted as code. */
    record Term(String word, String meaning, boolean code) {}

    /** A group of figures. */
    record Figures(List<Figure> figures) implements Block {}

    /**
     * A figure.
     *
     * @param height height of the drawing, whose width is {@value Svg#WIDTH}
     * @param legend the styles of the drawing
     * @param notes notes below the drawing
     */
    record Figure(String title, double height, Svg drawing, List<Key> legend, List<String> notes) {}

    /**
     * A legend entry.
     *
     * @param style classes of the style sheet: k for lines, g for marks, q for areas
     * @param text its meaning
     * @param shape shape of its marks by {@link Svg#mark}; empty without marks
     */
    record Key(String style, String text, OptionalInt shape) {
        Key(String style, String text) {
            this(style, text, OptionalInt.empty());
        }

        /** Returns the number of the color. */
        int color() {
            return style.replaceAll("[^0-9]", "").charAt(0) - '0';
        }
    }
}
