package io.roseinfer.bench.report.html;

import java.util.ArrayList;
import java.util.List;
import java.util.Map;

/** A part of the page. Its texts are plain; {@link Page} escapes them. */
sealed interface Block {
    /** A heading of the second or third level. */
    record Heading(int level, String text) implements Block {
        static Heading of(String text) {
            return new Heading(2, text);
        }
    }

    /** A paragraph. */
    record Paragraph(String text) implements Block {}

    /** The color of a verdict. */
    enum Tone {
        GOOD,
        WARN,
        BAD
    }

    /** A box that says whether results are valid, and what they come to. */
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

        /** Says first where the times come from if they are simulated. */
        Verdict simulated(List<String> costs) {
            costs.forEach(source -> strong("Simulated time").text(", " + source + ". "));
            return this;
        }
    }

    /** A piece of a verdict. */
    sealed interface Piece {
        record Plain(String text) implements Piece {}

        record Strong(String text) implements Piece {}

        record End() implements Piece {}

        record Items(List<String> texts) implements Piece {}
    }

    /**
     * A table. The last cell of a row that is shorter than the head spans what is left.
     *
     * @param names leading cells of a row that name it
     */
    record Table(int names, List<String> head, List<List<String>> rows) implements Block {
        Table(List<String> head, List<List<String>> rows) {
            this(1, head, rows);
        }
    }

    /** Words and what they stand for. */
    record Terms(List<Term> terms) implements Block {
        static Terms of(Map<String, String> meanings) {
            return new Terms(meanings.entrySet().stream()
                    .map(word -> new Term(word.getKey(), word.getValue(), false))
                    .toList());
        }

        /** Names and values, as code. */
        static Terms code(Map<String, String> values) {
            return new Terms(values.entrySet().stream()
                    .map(name -> new Term(name.getKey(), name.getValue(), true))
                    .toList());
        }
    }

    /** A word, and what it stands for, which may be code. */
    record Term(String word, String meaning, boolean code) {}

    /** Figures side by side. */
    record Figures(List<Figure> figures) implements Block {}

    /**
     * A figure.
     *
     * @param height of the drawing, which is {@value Svg#WIDTH} wide
     * @param legend what the styles of the drawing stand for
     * @param notes sentences under it
     */
    record Figure(String title, double height, Svg drawing, List<Key> legend, List<String> notes) {}

    /** A style, by its class in the style sheet, and what it stands for. */
    record Key(String style, String text) {}
}
