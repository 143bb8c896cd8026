package io.roseinfer.bench.report.html;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.StringReader;
import java.util.List;
import java.util.Map;
import javax.xml.parsers.DocumentBuilderFactory;
import org.junit.jupiter.api.Test;
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
        Document svg = parse(FigureFile.of(FIGURE));
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
        assertThat(parse(FigureFile.of(FIGURE)).getDocumentElement().getTextContent())
                .contains("Goodput <1> & more", "requests/s offered", "good requests/s", "fifo", "own policy", "knee");
    }

    /** Two series differ by dash and mark, so a print without colors shows them. */
    @Test
    void series_differ_without_colors() {
        String gray = FigureFile.of(FIGURE).replaceAll("#[0-9a-f]{6}", "#000000");
        assertThat(gray).contains("<polygon").contains("<circle");
        assertThat(FigureFile.attributes("s0")).doesNotContain("dash");
        assertThat(FigureFile.attributes("s1")).contains("stroke-dasharray=\"7 3\"");
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
    void equal_titles_get_different_file_names() {
        Map<String, String> files = FigureFile.all(List.of(FIGURE, FIGURE));
        assertThat(files.keySet()).containsExactly("goodput-1-more.svg", "goodput-1-more-2.svg");
    }
}
