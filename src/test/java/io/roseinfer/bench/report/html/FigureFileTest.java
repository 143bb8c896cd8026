package io.roseinfer.bench.report.html;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.StringReader;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.stream.IntStream;
import javax.xml.parsers.DocumentBuilderFactory;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.w3c.dom.Document;
import org.w3c.dom.Element;
import org.w3c.dom.NodeList;
import org.xml.sax.InputSource;

class FigureFileTest {
    private static final Block.Figure FIGURE = new Chart(
                    "Goodput <1> & more",
                    "requests/s offered",
                    "good requests/s",
                    List.of(
                            new Chart.Series("fifo", 0, List.of(1.0, 2.0), List.of(3.0, 4.0)),
                            new Chart.Series("own policy", 1, List.of(), List.of())),
                    false)
            .withMarks(List.of(new Chart.Mark(1, 1, 2, "knee", false), new Chart.Mark(1, 2, 2, "", true)))
            .figure();

    private static Document parse(String svg) throws Exception {
        DocumentBuilderFactory factory = DocumentBuilderFactory.newInstance();
        factory.setNamespaceAware(true);
        return factory.newDocumentBuilder().parse(new InputSource(new StringReader(svg)));
    }

    @Test
    void file_needs_no_style_sheet_and_no_script() throws Exception {
        Document svg = parse(FigureFile.of(FIGURE, "", true));
        assertThat(svg.getDocumentElement().getNamespaceURI()).isEqualTo("http://www.w3.org/2000/svg");
        NodeList all = svg.getElementsByTagName("*");
        for (int i = 0; i < all.getLength(); i++) {
            Element element = (Element) all.item(i);
            assertThat(element.getTagName()).isNotIn("style", "script", "image", "use", "a");
            assertThat(element.hasAttribute("class")).isFalse();
            if (List.of("line", "polyline", "circle", "polygon").contains(element.getTagName())) {
                assertThat(element.getAttribute("stroke") + element.getAttribute("fill"))
                        .contains("#");
            }
        }
    }

    @Test
    void title_axes_and_legend_are_texts() throws Exception {
        assertThat(parse(FigureFile.of(FIGURE, "", true)).getDocumentElement().getTextContent())
                .contains("Goodput <1> & more", "requests/s offered", "good requests/s", "fifo", "own policy", "knee");
    }

    /** Two series differ by dash and mark, so a print without colors shows them. */
    @Test
    void series_differ_without_colors() {
        String gray = FigureFile.of(FIGURE, "", true).replaceAll("#[0-9a-f]{6}", "#000000");
        assertThat(gray).contains("<polygon").contains("<circle");
        assertThat(FigureFile.attributes("s0")).doesNotContain("dash");
        assertThat(FigureFile.attributes("s1")).contains("stroke-dasharray=\"7 3\"");
    }

    @Test
    void coinciding_lines_differ_in_width_and_their_marks_in_size() throws Exception {
        List<Chart.Series> series = IntStream.range(0, 2)
                .mapToObj(i -> new Chart.Series("s" + i, i, List.of(1.0, 2.0, 3.0), List.of(1.0, 2.0, 2.0 + i)))
                .toList();
        List<Chart.Mark> marks = series.stream()
                .map(line -> new Chart.Mark(line.style(), 1, 1, "", false))
                .toList();
        Document svg = parse(FigureFile.of(
                new Chart("t", "x", "y", series, false).withMarks(marks).figure(), "", true));
        NodeList lines = svg.getElementsByTagName("polyline");
        assertThat(IntStream.range(0, 4).mapToObj(i -> (Element) lines.item(i)))
                .extracting(line -> line.getAttribute("stroke-width")
                        + line.getAttribute("stroke-dasharray")
                        + line.getAttribute("stroke"))
                .containsExactly("5#1f6fb4", "2#1f6fb4", "2#ffffff", "27 3#d1591a");
        Element lower = (Element) svg.getElementsByTagName("circle").item(0);
        assertThat(lower.getAttribute("r")).isEqualTo("5.5");
    }

    @Test
    void thirty_six_series_differ_in_color_or_mark_and_the_legend_shows_both() throws Exception {
        List<Chart.Series> series = IntStream.range(0, 36)
                .mapToObj(i -> new Chart.Series("s" + i, Chart.style(i), List.of(1.0, 2.0), List.of(1.0, 2.0)))
                .toList();
        List<Chart.Mark> marks = series.stream()
                .map(line -> new Chart.Mark(line.style(), 1, 1, "", false))
                .toList();
        Block.Figure figure =
                new Chart("t", "x", "y", series, false).withMarks(marks).figure();
        assertThat(figure.legend().stream().map(key -> key.color() + " " + key.shape()))
                .hasSize(36)
                .doesNotHaveDuplicates();
        assertThat(figure.legend()).allMatch(key -> key.shape().isPresent());
        parse(FigureFile.of(figure, "", true));
        assertThat(Page.of(figure)).contains("<i class=\"k0\"></i><i class=\"g g0\">●</i>s0<", ">■</i>s6<");
    }

    @Test
    void top_points_and_the_label_of_the_first_one_are_within_the_frame() throws Exception {
        Chart.Series line = new Chart.Series("a", 0, List.of(1.0, 40.0), List.of(9.0, 10.0));
        Block.Figure figure = new Chart("t", "x", "y", List.of(line), false)
                .withMarks(List.of(new Chart.Mark(0, 1, 9, "knee", false), new Chart.Mark(0, 40, 10, "", false)))
                .figure();
        Document svg = parse("<svg>" + figure.drawing() + "</svg>");
        Element top = (Element) svg.getElementsByTagName("circle").item(1);
        assertThat(Double.parseDouble(top.getAttribute("cy"))).isGreaterThan(Chart.TOP + 3.5);
        NodeList texts = svg.getElementsByTagName("text");
        Element label = IntStream.range(0, texts.getLength())
                .mapToObj(i -> (Element) texts.item(i))
                .filter(text -> text.getTextContent().equals("knee"))
                .findFirst()
                .orElseThrow();
        assertThat(Double.parseDouble(label.getAttribute("x"))).isGreaterThanOrEqualTo(Chart.LEFT + 20);
        assertThat(label.getAttribute("text-anchor")).isEqualTo("middle");
    }

    @Test
    void every_class_of_a_drawing_has_attributes() {
        for (String kind : List.of("s", "m")) {
            for (int i = 0; i < 8; i++) {
                assertThat(FigureFile.attributes(kind + i)).contains("#");
            }
        }
        for (String kind : List.of("h", "r", "b")) {
            for (int i = 0; i < 6; i++) {
                assertThat(FigureFile.attributes(kind + i)).contains("#");
            }
        }
        assertThat(List.of("grid", "zero", "tick", "label", "strong", "pale"))
                .allSatisfy(style -> assertThat(FigureFile.attributes(style)).contains("=\""));
    }

    @Test
    void files_have_the_name_of_their_results_and_equal_ones_a_number() {
        Map<String, String> files = new LinkedHashMap<>();
        FigureFile.addAll(files, "night", "", List.of(FIGURE, FIGURE), true);
        FigureFile.addAll(files, "", "", List.of(FIGURE), true);
        assertThat(files.keySet())
                .containsExactly("night-goodput-1-more.svg", "night-goodput-1-more-2.svg", "goodput-1-more.svg");
    }

    @Test
    void source_is_in_the_description_and_in_lines_within_the_drawing() throws Exception {
        String source = "roseinfer bench ab " + "--flag 'a <value>' ".repeat(20) + "; commit 0123";
        Document svg = parse(FigureFile.of(FIGURE, source, true));
        assertThat(svg.getElementsByTagName("desc").item(0).getTextContent()).isEqualTo("fifo, own policy. " + source);
        List<Element> lines = small(svg);
        assertThat(lines).hasSizeGreaterThan(2);
        assertThat(lines.stream().map(Element::getTextContent).toList()).allMatch(line -> line.length() <= 115);
        assertThat(String.join(" ", lines.stream().map(Element::getTextContent).toList()))
                .isEqualTo(source.replace("  ", " "));
        double height = Double.parseDouble(svg.getDocumentElement().getAttribute("height"));
        assertThat(lines.stream().map(line -> Double.parseDouble(line.getAttribute("y"))))
                .isSorted()
                .allMatch(y -> y < height);
    }

    /** Widths of characters in DejaVu Sans, which many Linux machines have instead of Helvetica. */
    @ParameterizedTest
    @CsvSource({"'01234567 ', 0.6", "www, 0.818", "WM, 0.93", "--seed=1, 0.58"})
    void lines_of_the_source_are_within_the_drawing_in_wide_fonts(String word, double em) throws Exception {
        assertThat(small(parse(FigureFile.of(FIGURE, word.repeat(100), true))))
                .hasSizeGreaterThan(1)
                .allMatch(line -> 16 + 10 * em * line.getTextContent().strip().length() <= Svg.WIDTH);
    }

    @Test
    void notes_are_above_the_source() throws Exception {
        Block.Figure noted =
                new Block.Figure("t", 90, FIGURE.drawing(), FIGURE.legend(), List.of("A: --policy x", "B: --policy y"));
        assertThat(small(parse(FigureFile.of(noted, "roseinfer bench ab", true))).stream()
                        .map(Element::getTextContent))
                .containsExactly("A: --policy x", "B: --policy y", "roseinfer bench ab");
    }

    @Test
    void figure_without_a_caption_has_notes_and_source_only_in_its_description() throws Exception {
        Block.Figure noted = new Block.Figure("t", 90, FIGURE.drawing(), FIGURE.legend(), List.of("A: --policy x"));
        Document svg = parse(FigureFile.of(noted, "roseinfer bench ab", false));
        assertThat(small(svg)).isEmpty();
        assertThat(svg.getElementsByTagName("desc").item(0).getTextContent())
                .isEqualTo("A: --policy x. roseinfer bench ab");
    }

    @Test
    void figure_without_a_source_has_no_lines_of_it() throws Exception {
        assertThat(small(parse(FigureFile.of(FIGURE, "", true)))).isEmpty();
    }

    private static List<Element> small(Document svg) {
        NodeList texts = svg.getElementsByTagName("text");
        return IntStream.range(0, texts.getLength())
                .mapToObj(i -> (Element) texts.item(i))
                .filter(text -> text.getAttribute("font-size").equals("10"))
                .toList();
    }
}
