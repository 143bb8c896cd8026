package io.roseinfer;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.regex.MatchResult;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;

/** Checks that the packages and stations in {@code architecture.md} exist, like {@link DocumentsTest} does for names. */
class StructurePageTest {
    private static final Path SOURCES = Path.of("src/main/java");
    private static final String ROOT = "io.roseinfer";

    private static final Pattern PACKAGE = Pattern.compile("(?m)^\\| (=?) ?\\| `([a-z.]+)` \\|");
    private static final Pattern STATION = Pattern.compile("(?m)^\\| (\\d+) \\|");
    private static final Pattern STATIONS = Pattern.compile("\\*\\*(\\d+) stations\\*\\*");

    private static String page;

    @BeforeAll
    static void readPage() {
        page = Document.at("src/site/markdown/explanation/architecture.md").text();
    }

    /** The packages in the order of the page, by their names in ArchitectureTest. */
    private static List<MatchResult> packageLines() {
        return PACKAGE.matcher(page).results().toList();
    }

    @Test
    void every_package_has_one_line() throws IOException {
        List<String> listed = packageLines().stream()
                .map(line -> line.group(2).equals(ROOT) ? ROOT : ROOT + "." + line.group(2))
                .toList();
        List<String> sources;
        try (Stream<Path> files = Files.walk(SOURCES)) {
            sources = files.filter(file -> file.toString().endsWith(".java"))
                    .map(file -> SOURCES.relativize(file.getParent()))
                    .map(folder -> folder.toString().replace('\\', '/').replace('/', '.'))
                    .distinct()
                    .toList();
        }
        assertThat(listed).containsExactlyInAnyOrderElementsOf(sources);
    }

    /** Returns the layer of a package: its own, or that of its parent. */
    private static int floor(String name) {
        for (String at = name; !at.isEmpty(); at = at.substring(0, Math.max(0, at.lastIndexOf('.')))) {
            for (int floor = 0; floor < ArchitectureTest.FLOORS.size(); floor++) {
                if (ArchitectureTest.FLOORS.get(floor).contains(at)) {
                    return floor;
                }
            }
        }
        throw new AssertionError("no floor has the package " + name);
    }

    @Test
    void packages_are_in_the_order_of_their_layers() {
        List<String> wrong = new ArrayList<>();
        int above = Integer.MAX_VALUE;
        for (MatchResult line : packageLines()) {
            if (line.group(2).equals(ROOT)) {
                continue;
            }
            int floor = floor(line.group(2));
            boolean same = !line.group(1).isEmpty();
            if (floor > above || same != (floor == above)) {
                wrong.add(line.group(2) + " on floor " + floor + " below floor " + above);
            }
            above = floor;
        }
        assertThat(wrong).isEmpty();
    }

    @Test
    void request_has_the_stations_of_the_page() {
        List<String> numbers =
                STATION.matcher(page).results().map(row -> row.group(1)).toList();
        assertThat(numbers).isNotEmpty();
        for (int i = 0; i < numbers.size(); i++) {
            assertThat(numbers.get(i)).isEqualTo(Integer.toString(i + 1));
        }
        assertThat(STATIONS.matcher(page).results().map(said -> said.group(1)))
                .containsExactly(Integer.toString(numbers.size()));
    }
}
