package io.roseinfer.hub;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.roseinfer.base.RoseException.BadModel;
import io.roseinfer.tokenizer.Tokenizer;
import io.roseinfer.tokenizer.Tokenizers;
import java.io.IOException;
import java.lang.classfile.ClassFile;
import java.lang.classfile.constantpool.PoolEntry;
import java.lang.classfile.constantpool.StringEntry;
import java.net.URI;
import java.net.URISyntaxException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;
import java.util.regex.Pattern;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.ValueSource;
import tools.jackson.databind.json.JsonMapper;

/** A model tokenizes the same from the hub, from a cache that another tool filled partly, and from a directory. */
class HubTokenizerFilesTest extends HubTestBase {
    private static final Pattern FILE_NAME = Pattern.compile("[A-Za-z0-9_.-]+\\.(json|txt|model)");
    private static final List<String> TEXTS =
            List.of("hello", "a <x> b<y>", "<x><y>", "<|endoftext|>he", " <y> he", "né 世界", "");

    /** The possible files of a repository's tokenizer. */
    enum Layout {
        TOKENIZER("tokenizer.json"),
        TOKENIZER_AND_CONFIG("tokenizer.json,tokenizer_config.json"),
        VOCABULARY("vocab.json,merges.txt"),
        VOCABULARY_AND_CONFIG("vocab.json,merges.txt,tokenizer_config.json"),
        VOCABULARY_AND_ADDED("vocab.json,merges.txt,added_tokens.json,special_tokens_map.json"),
        EVERYTHING(
                "tokenizer.json,tokenizer_config.json,vocab.json,merges.txt,added_tokens.json,special_tokens_map.json");

        private final String files;

        Layout(String files) {
            this.files = files;
        }

        List<String> files() {
            return List.of(files.split(","));
        }
    }

    @TempDir
    private Path directory;

    private final List<String> warnings = new ArrayList<>();

    @BeforeEach
    void removeTokenizer() {
        hub.remove("vocab.json");
    }

    @ParameterizedTest
    @EnumSource
    void tokenizer_of_the_hub_gives_the_ids_of_the_same_files_in_a_directory(Layout layout) throws IOException {
        layout.files().forEach(name -> hub.file(name, content(name)));
        assertThat(ids(modelDirectory(settings()))).isEqualTo(ids(directory(layout.files())));
    }

    @ParameterizedTest
    @EnumSource
    void missing_tokenizer_is_downloaded_into_another_tool_s_snapshot(Layout layout) throws IOException {
        Path snapshot = download();
        forgetAbsences();
        layout.files().forEach(name -> hub.file(name, content(name)));
        assertThat(modelDirectory(settings())).isEqualTo(snapshot);
        assertThat(ids(snapshot)).isEqualTo(ids(directory(layout.files())));
        assertThat(hub.bodies(WEIGHTS)).hasSize(1);
    }

    @ParameterizedTest
    @ValueSource(strings = {"vocab.json", "vocab.json,merges.txt", "merges.txt,tokenizer_config.json"})
    void incomplete_tokenizer_of_another_tool_is_completed(String there) throws IOException {
        List<String> files = Layout.VOCABULARY_AND_ADDED.files();
        Stream.of(there.split(",")).forEach(name -> hub.file(name, content(name)));
        download();
        forgetAbsences();
        files.forEach(name -> hub.file(name, content(name)));
        Set<String> expected = new TreeSet<>(files);
        expected.addAll(List.of(there.split(",")));
        assertThat(ids(modelDirectory(settings()))).isEqualTo(ids(directory(List.copyOf(expected))));
    }

    @ParameterizedTest
    @ValueSource(strings = {"tokenizer_config.json", "generation_config.json", "chat_template.jinja"})
    void missing_file_next_to_a_complete_tokenizer_is_downloaded(String name) throws IOException {
        hub.file("tokenizer.json", content("tokenizer.json"));
        Path snapshot = download();
        forgetAbsences();
        hub.file(name, utf8("{}"));
        assertThat(modelDirectory(settings()).resolve(name)).hasContent("{}");
        int requests = hub.seen().size();
        assertThat(modelDirectory(settings())).isEqualTo(snapshot);
        assertThat(hub.seen()).hasSize(requests);
    }

    @Test
    void file_that_the_repository_lacks_is_requested_once() throws IOException {
        download();
        forgetAbsences();
        modelDirectory(settings());
        int requests = hub.seen().size();
        modelDirectory(settings());
        assertThat(hub.seen()).hasSize(requests);
        assertThat(repository().resolve(".no_exist").resolve(FakeHub.COMMIT).resolve("tokenizer.json"))
                .isEmptyFile();
    }

    @Test
    void snapshot_without_a_tokenizer_is_used_offline() throws IOException {
        Path snapshot = download();
        forgetAbsences();
        int requests = hub.seen().size();
        assertThat(modelDirectory(settings().asOffline())).isEqualTo(snapshot);
        assertThat(hub.seen()).hasSize(requests);
    }

    @Test
    void snapshot_without_a_tokenizer_is_used_with_a_warning_if_the_hub_is_unreachable() throws IOException {
        Path snapshot = download();
        forgetAbsences();
        hub.close();
        assertThat(modelDirectory(settings())).isEqualTo(snapshot);
        assertThat(warnings).singleElement().asString().contains("may be missing", "tokenizer.json", "of owner/small");
        assertThat(repository().resolve(".no_exist")).doesNotExist();
    }

    @Test
    void tokenizer_that_cannot_be_downloaded_is_an_error() throws IOException {
        download();
        forgetAbsences();
        hub.file("tokenizer.json", content("tokenizer.json"));
        hub.replace("hub", "GET", "tokenizer.json", FakeHub.status(403));
        assertThatThrownBy(() -> modelDirectory(settings()))
                .isInstanceOf(BadModel.class)
                .hasMessageContaining("\"tokenizer.json\" cannot be downloaded");
    }

    @Test
    void every_file_that_the_tokenizer_package_names_is_downloaded() throws IOException {
        assertThat(Snapshot.TOKENIZER_FILES).containsAll(namedFiles(Tokenizers.class));
        assertThat(namedFiles(Tokenizers.class)).contains("tokenizer.json", "vocab.json", "merges.txt");
    }

    /** The file names among the string constants of a class's package. */
    private static Set<String> namedFiles(Class<?> type) throws IOException {
        try (Stream<Path> classes = Files.list(classes(type))) {
            Set<String> names = new TreeSet<>();
            for (Path file :
                    classes.filter(path -> path.toString().endsWith(".class")).toList()) {
                for (PoolEntry entry : ClassFile.of().parse(file).constantPool()) {
                    if (entry instanceof StringEntry text
                            && FILE_NAME.matcher(text.stringValue()).matches()) {
                        names.add(text.stringValue());
                    }
                }
            }
            return names;
        }
    }

    private static Path classes(Class<?> type) {
        try {
            URI root = type.getProtectionDomain().getCodeSource().getLocation().toURI();
            return Path.of(root).resolve(type.getPackageName().replace('.', '/'));
        } catch (URISyntaxException e) {
            throw new AssertionError(e);
        }
    }

    private Path modelDirectory(HubSettings settings) {
        DownloadListener listener = new DownloadListener() {
            @Override
            public void progress(String file, long bytesSoFar, long totalBytes) {}

            @Override
            public void warning(String message) {
                warnings.add(message);
            }
        };
        return new ModelHub(settings, listener, wait -> {}).directory(ID, UNCHECKED);
    }

    /** Removes the markers of absent files, like a tool that did not request them. */
    private void forgetAbsences() throws IOException {
        Path notes = repository().resolve(".no_exist");
        try (Stream<Path> tree = Files.walk(notes)) {
            for (Path path : tree.sorted(Comparator.reverseOrder()).toList()) {
                Files.delete(path);
            }
        }
    }

    private Path directory(List<String> names) throws IOException {
        for (String name : names) {
            Files.write(directory.resolve(name), content(name));
        }
        return directory;
    }

    private static List<List<Integer>> ids(Path directory) {
        Tokenizer tokenizer = Tokenizers.fromDirectory(directory).orElseThrow();
        return TEXTS.stream()
                .map(text -> IntStream.of(tokenizer.encode(text)).boxed().toList())
                .toList();
    }

    /** One tokenizer in all its files: bytes, "he", and two added tokens, which only some layouts have. */
    private static byte[] content(String name) {
        Map<String, Object> added = Map.of("<x>", 258, "<y>", 259);
        Object json =
                switch (name) {
                    case "vocab.json" -> vocabulary();
                    case "merges.txt" -> "#version: 0.2\nh e\n";
                    case "added_tokens.json" -> added;
                    case "special_tokens_map.json" -> Map.of("additional_special_tokens", List.of("<x>"));
                    case "tokenizer_config.json" ->
                        Map.of(
                                "tokenizer_class",
                                "GPT2Tokenizer",
                                "add_prefix_space",
                                false,
                                "added_tokens_decoder",
                                Map.of("258", addedToken("<x>"), "259", addedToken("<y>")));
                    case "tokenizer.json" -> tokenizerJson();
                    default -> throw new AssertionError(name);
                };
        return utf8(json instanceof String text ? text : new JsonMapper().writeValueAsString(json));
    }

    private static Map<String, Object> addedToken(String content) {
        return new LinkedHashMap<>(Map.of(
                "content",
                content,
                "special",
                true,
                "single_word",
                false,
                "lstrip",
                false,
                "rstrip",
                false,
                "normalized",
                false));
    }

    private static Map<String, Object> tokenizerJson() {
        Map<String, Object> byteLevel =
                Map.of("type", "ByteLevel", "add_prefix_space", false, "trim_offsets", true, "use_regex", true);
        Map<String, Object> x = addedToken("<x>");
        x.put("id", 258);
        Map<String, Object> y = addedToken("<y>");
        y.put("id", 259);
        return Map.of(
                "version",
                "1.0",
                "added_tokens",
                List.of(x, y),
                "pre_tokenizer",
                byteLevel,
                "decoder",
                byteLevel,
                "post_processor",
                byteLevel,
                "model",
                Map.of("type", "BPE", "vocab", vocabulary(), "merges", List.of(List.of("h", "e"))));
    }

    /** The bytes in GPT-2's alphabet, then "he" and the end of text. */
    private static Map<String, Integer> vocabulary() {
        List<Integer> printable = Stream.of(
                        IntStream.rangeClosed('!', '~'),
                        IntStream.rangeClosed(0xa1, 0xac),
                        IntStream.rangeClosed(0xae, 0xff))
                .flatMap(IntStream::boxed)
                .toList();
        Map<String, Integer> ids = new LinkedHashMap<>();
        int others = 0;
        for (int value = 0; value < 256; value++) {
            int symbol = printable.contains(value) ? value : 256 + others++;
            ids.put(Character.toString(symbol), value);
        }
        ids.put("he", 256);
        ids.put("<|endoftext|>", 257);
        return ids;
    }
}
