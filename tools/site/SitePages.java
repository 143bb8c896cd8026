import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/**
 * The sources of the site: the pages of {@code src/site/markdown}, and each file of the repository that a page links to, below
 * {@code repository/}. Links lead to HTML, with GitHub's anchors. With the folder of a generated site: checks its links.
 */
public final class SitePages {
    private static final Path PAGES = Path.of("src/site/markdown");
    private static final Path RESOURCES = Path.of("src/site/resources");
    private static final Path REPOSITORY = Path.of("repository");
    private static final List<Menu> MENUS = List.of(
            new Menu("learn", "Learn"),
            new Menu("how-to", "How to"),
            new Menu("reference", "Reference"),
            new Menu("explanation", "Explanation"));

    private static final Pattern LINK = Pattern.compile("\\[((?:[^\\[\\]]|\\[[^\\]]*])*)]\\(([^)\\s]+)\\)");
    private static final Pattern HEADING = Pattern.compile("(?m)^(#{1,6}) +(.+?) *$");
    private static final Pattern CODE = Pattern.compile("(?ms)^```.*?^```$");
    private static final Pattern BARS = Pattern.compile("`([^`\n]*\\\\\\|[^`\n]*)`");
    private static final Pattern SIGN = Pattern.compile("[^\\p{L}\\p{N} ]");
    private static final Pattern REFERENCE = Pattern.compile("(?:href|src)=\"([^\"]*)\"");
    private static final Pattern ID = Pattern.compile("(?:id|name)=\"([^\"]*)\"");
    private static final Pattern OUTSIDE = Pattern.compile("[a-z]+:.*|//.*");

    /** The pages of a folder under a heading. */
    private record Menu(String folder, String title) {}

    private final Path out;
    private final Set<Path> known = new HashSet<>();
    private final Deque<Path> pages = new ArrayDeque<>();
    private final Map<String, List<String>> items = new TreeMap<>();

    private SitePages(Path out) {
        this.out = out;
    }

    /** Writes the sources to a folder, or checks the links of a site: {@code [--check] FOLDER}. */
    public static void main(String[] args) throws IOException {
        if (args[0].equals("--check")) {
            check(Path.of(args[1]));
        } else {
            new SitePages(Path.of(args[0])).write();
        }
    }

    private void write() throws IOException {
        try (Stream<Path> files = Files.walk(PAGES)) {
            files.filter(file -> file.toString().endsWith(".md")).sorted().forEach(this::add);
        }
        while (!pages.isEmpty()) {
            page(pages.remove());
        }
        try (Stream<Path> files = Files.walk(RESOURCES)) {
            for (Path file : files.filter(Files::isRegularFile).toList()) {
                copy(file, RESOURCES.relativize(file));
            }
        }
        StringBuilder menus = new StringBuilder();
        for (Menu menu : MENUS) {
            menus.append("    <menu name=\"").append(menu.title()).append("\">\n");
            items.getOrDefault(menu.folder(), List.of()).forEach(menus::append);
            menus.append("    </menu>\n");
        }
        String site = Files.readString(Path.of("src/site/site.xml"));
        Files.writeString(out.resolve("site.xml"), site.replace("  </body>", menus + "  </body>"));
    }

    private void add(Path page) {
        if (known.add(page)) {
            pages.add(page);
        }
    }

    /** Returns where a file of the repository is in the site. */
    private static Path place(Path file) {
        if (file.startsWith(PAGES)) {
            return PAGES.relativize(file);
        }
        return file.startsWith(RESOURCES)
                ? RESOURCES.relativize(file)
                : REPOSITORY.resolve(file.toString().replaceFirst("^\\.", ""));
    }

    private void copy(Path file, Path place) throws IOException {
        Path copy = out.resolve("resources").resolve(place);
        Files.createDirectories(copy.getParent());
        Files.copy(file, copy, StandardCopyOption.REPLACE_EXISTING);
    }

    private void page(Path page) throws IOException {
        String text = Files.readString(page);
        StringBuilder changed = new StringBuilder();
        Map<String, Integer> anchors = new HashMap<>();
        Matcher code = CODE.matcher(text);
        int from = 0;
        while (code.find()) {
            changed.append(prose(page, text.substring(from, code.start()), anchors))
                    .append(code.group());
            from = code.end();
        }
        changed.append(prose(page, text.substring(from), anchors));
        Path copy = out.resolve("markdown").resolve(place(page));
        Files.createDirectories(copy.getParent());
        Files.writeString(copy, changed);
    }

    /** Returns text without blocks of code, with anchors in its headings and the links of the site. */
    private String prose(Path page, String text, Map<String, Integer> anchors) throws IOException {
        Matcher heading = HEADING.matcher(text);
        StringBuilder changed = new StringBuilder();
        while (heading.find()) {
            String title = heading.group(2);
            String anchor = anchor(title);
            int same = anchors.merge(anchor, 1, Integer::sum) - 1;
            if (heading.group(1).length() == 1) {
                item(page, title);
            } else {
                String id = same == 0 ? anchor : anchor + "-" + same;
                String mark = id.equals(title) ? "" : "<a id=\"" + id + "\"></a>";
                heading.appendReplacement(changed, Matcher.quoteReplacement(heading.group(1) + " " + mark + title));
            }
        }
        return linked(page, bars(heading.appendTail(changed).toString()));
    }

    /**
     * Returns text with the code in tables that has a bar as HTML: the site's parser keeps the backslash before the bar. Signs are
     * entities, since the parser also makes dashes and ellipses of them.
     */
    private static String bars(String prose) {
        return BARS.matcher(prose)
                .replaceAll(code -> "<code>"
                        + SIGN.matcher(code.group(1).replace("\\|", "|"))
                                .replaceAll(sign -> "&#" + (int) sign.group().charAt(0) + ";")
                        + "</code>");
    }

    /** Adds a page to the menu of its folder. */
    private void item(Path page, String title) {
        Path place = place(page);
        if (page.startsWith(PAGES) && place.getNameCount() == 2) {
            items.computeIfAbsent(place.getName(0).toString(), unused -> new ArrayList<>())
                    .add("      <item name=\"" + title.replace("&", "&amp;").replaceAll("[`\"<>]", "") + "\" href=\""
                            + html(place) + "\"/>\n");
        }
    }

    private static String html(Path place) {
        return place.toString().replaceFirst("\\.md$", ".html");
    }

    /** Returns the anchor that GitHub gives a heading. */
    private static String anchor(String heading) {
        return LINK.matcher(heading)
                .replaceAll("$1")
                .toLowerCase(Locale.ROOT)
                .replaceAll("[^\\p{L}\\p{N}_ -]", "")
                .replace(' ', '-');
    }

    /** Returns text with its links changed to those of the site. */
    private String linked(Path page, String prose) throws IOException {
        StringBuilder text = new StringBuilder();
        Matcher link = LINK.matcher(prose);
        while (link.find()) {
            String label = link.group(1).contains("](") ? linked(page, link.group(1)) : link.group(1);
            String target = target(page, link.group(2));
            link.appendReplacement(
                    text, Matcher.quoteReplacement(target.isEmpty() ? label : "[" + label + "](" + target + ")"));
        }
        return link.appendTail(text).toString();
    }

    /** Returns the target of a link in the site, and adds the file there; empty if it is a folder. */
    private String target(Path page, String link) throws IOException {
        if (OUTSIDE.matcher(link).matches() || link.startsWith("#")) {
            return link;
        }
        String[] parts = link.split("#", 2);
        Path file = Path.of("").resolve(page).resolveSibling(parts[0]).normalize();
        if (Files.isDirectory(file)) {
            return "";
        }
        Path place = place(file);
        if (file.toString().endsWith(".md")) {
            add(file);
        } else {
            copy(file, place);
        }
        Path from = place(page).getParent();
        String target = html(from == null ? place : from.relativize(place));
        return parts.length == 1 ? target : target + "#" + parts[1];
    }

    /** Fails with the links that lead nowhere. */
    private static void check(Path site) throws IOException {
        Map<Path, String> texts = new TreeMap<>();
        try (Stream<Path> files = Files.walk(site)) {
            for (Path file :
                    files.filter(file -> file.toString().endsWith(".html")).toList()) {
                texts.put(file, Files.readString(file));
            }
        }
        Map<Path, Set<String>> ids = new HashMap<>();
        texts.forEach((file, text) -> ids.put(
                file, ID.matcher(text).results().map(found -> found.group(1)).collect(Collectors.toSet())));
        List<String> dead = new ArrayList<>();
        texts.forEach((file, text) -> REFERENCE
                .matcher(text)
                .results()
                .map(found -> found.group(1))
                .forEach(link -> {
                    if (!OUTSIDE.matcher(link).matches() && !isAlive(file, link, ids)) {
                        dead.add(site.relativize(file) + ": " + link);
                    }
                }));
        if (texts.isEmpty() || !dead.isEmpty()) {
            System.err.println("site: " + texts.size() + " pages; links that lead nowhere: " + String.join(", ", dead));
            System.exit(1);
        }
    }

    private static boolean isAlive(Path file, String link, Map<Path, Set<String>> ids) {
        String[] parts = link.split("#", 2);
        Path target = parts[0].isEmpty() ? file : file.resolveSibling(parts[0]).normalize();
        boolean isTop = parts.length == 1 || parts[1].isEmpty();
        return Files.exists(target)
                && (isTop || ids.getOrDefault(target, Set.of()).contains(parts[1]));
    }
}
