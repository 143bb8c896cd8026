package io.roseinfer;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.Comparator;
import java.util.List;
import java.util.regex.Pattern;
import java.util.stream.IntStream;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;

/** Tests of the layers and stations in {@code architecture.md}; {@link DocumentsTest} checks its names. */
class StructurePageTest {
    private static final Pattern LAYERS = Pattern.compile("(?m)^\\| (`.*?) \\|");
    private static final Pattern PACKAGE = Pattern.compile("`([a-z.]+)`");
    private static final Pattern STATION = Pattern.compile("(?m)^\\| (\\d+) \\|");
    private static final Pattern STATIONS = Pattern.compile("\\*\\*(\\d+) stations\\*\\*");

    private static Document page;

    @BeforeAll
    static void readPage() {
        page = Document.at("src/site/markdown/explanation/architecture.md");
    }

    /** Returns the layer of a package, counted from the lowest. */
    private static int layer(String name) {
        return IntStream.range(0, ArchitectureTest.FLOORS.size())
                .filter(layer -> ArchitectureTest.FLOORS.get(layer).contains(name))
                .findFirst()
                .orElseThrow(() -> new AssertionError("no layer has the package " + name));
    }

    @Test
    void page_lists_every_package_of_the_layers_from_top_to_bottom() {
        List<String> listed = LAYERS.matcher(page.section("Layers"))
                .results()
                .flatMap(row -> PACKAGE.matcher(row.group(1)).results())
                .map(name -> name.group(1))
                .toList();
        assertThat(listed)
                .containsExactlyInAnyOrderElementsOf(
                        ArchitectureTest.FLOORS.stream().flatMap(List::stream).toList())
                .isSortedAccordingTo(
                        Comparator.comparingInt(StructurePageTest::layer).reversed());
    }

    @Test
    void request_has_the_stations_of_the_page() {
        List<String> numbers =
                STATION.matcher(page.text()).results().map(row -> row.group(1)).toList();
        assertThat(numbers).isNotEmpty();
        for (int i = 0; i < numbers.size(); i++) {
            assertThat(numbers.get(i)).isEqualTo(Integer.toString(i + 1));
        }
        assertThat(STATIONS.matcher(page.text()).results().map(said -> said.group(1)))
                .containsExactly(Integer.toString(numbers.size()));
    }
}
