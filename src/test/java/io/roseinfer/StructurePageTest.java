package io.roseinfer;

import static java.util.function.Predicate.not;
import static org.assertj.core.api.Assertions.assertThat;

import com.tngtech.archunit.core.domain.JavaClass;
import com.tngtech.archunit.core.domain.JavaMember;
import com.tngtech.archunit.core.importer.ClassFileImporter;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.regex.MatchResult;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;

/** {@code structure.md} names classes, members and packages; this holds it to those there are. */
class StructurePageTest {
    private static final Path PAGE = Path.of("src/site/markdown/structure.md");
    private static final Path SOURCES = Path.of("src/main/java");
    private static final String ROOT = "io.roseinfer";

    private static final Pattern FENCE = Pattern.compile("(?ms)^```$(.*?)^```$");
    private static final Pattern INLINE = Pattern.compile("`([^`]+)`");
    /** A word that begins as types do and is no acronym, perhaps with a member or a nested type behind a dot. */
    private static final Pattern NAME = Pattern.compile("(?<![\\w./-])([A-Z]\\w*[a-z]\\w*)(?:\\.(\\w+))?");

    private static final Pattern PACKAGE = Pattern.compile("(?m)^\\| (=?) ?\\| `([a-z.]+)` \\|");
    private static final Pattern STATION = Pattern.compile("(?m)^\\| (\\d+) \\|");
    private static final Pattern STATIONS = Pattern.compile("\\*\\*(\\d+) stations\\*\\*");

    private static String page;
    private static Map<String, List<JavaClass>> types;

    @BeforeAll
    static void readPageAndClasses() throws IOException {
        page = Files.readString(PAGE);
        types = new ClassFileImporter()
                .importPackages(ROOT).stream()
                        .filter(not(JavaClass::isAnonymousClass))
                        .collect(Collectors.groupingBy(JavaClass::getSimpleName));
    }

    /** What the page says about a type: its name, or its name and that of a member. */
    private static Set<String> names() {
        Stream<String> drawn = FENCE.matcher(page).results().map(fence -> fence.group(1));
        Stream<String> written =
                INLINE.matcher(FENCE.matcher(page).replaceAll("")).results().map(code -> code.group(1));
        return Stream.concat(drawn, written)
                .flatMap(code -> NAME.matcher(code).results().map(MatchResult::group))
                .collect(Collectors.toSet());
    }

    private static boolean has(JavaClass type, String member) {
        boolean nested = types.getOrDefault(member, List.of()).stream()
                .anyMatch(
                        inner -> inner.getEnclosingClass().filter(type::equals).isPresent());
        return nested || type.getMembers().stream().map(JavaMember::getName).anyMatch(member::equals);
    }

    private static boolean exists(String name) {
        Matcher parts = NAME.matcher(name);
        assertThat(parts.matches()).as("%s is a name", name).isTrue();
        List<JavaClass> meant = types.getOrDefault(parts.group(1), List.of());
        String member = parts.group(2);
        return member == null ? !meant.isEmpty() : meant.stream().anyMatch(type -> has(type, member));
    }

    @Test
    void every_type_and_member_that_the_page_names_exists() {
        Set<String> names = names();
        assertThat(names).hasSizeGreaterThan(80).contains("EngineLoop.turn", "Flight");
        assertThat(names)
                .as("names that are types of ours")
                .filteredOn(not(StructurePageTest::exists))
                .isEmpty();
    }

    /** The packages in the order of the page, by the name that ArchitectureTest has for them. */
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

    /** The floor of a package: its own, or that of the package it is part of. */
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
    void packages_stand_in_the_order_of_their_floors() {
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
    void a_request_has_as_many_stations_as_the_page_says() {
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
