package io.roseinfer.hub;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.roseinfer.base.Quoted;
import io.roseinfer.base.RoseException.BadInput;
import io.roseinfer.base.RoseException.BadModel;
import io.roseinfer.hub.KnownModels.MovedId;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class ModelRefTest {
    private static final KnownModels KNOWN =
            new KnownModels(List.of("small", "small-wide"), List.of(new MovedId("old", "owner/old")));

    @TempDir
    private Path directory;

    private static ModelRef parse(String text) {
        return ModelRef.parse(text, KNOWN);
    }

    @Test
    void existing_directory_is_a_directory() {
        assertThat(parse(directory.toString())).isEqualTo(new ModelRef.Directory(directory));
    }

    @Test
    void existing_directory_takes_precedence_over_a_hub_id() {
        assertThat(parse("src")).isEqualTo(new ModelRef.Directory(Path.of("src")));
    }

    @ParameterizedTest
    @ValueSource(strings = {"gpt2", "openai-community/gpt2-medium", "distilbert/distilgpt2", "a", "A1/b_c-d.e"})
    void hub_id_is_kept(String text) {
        assertThat(parse(text)).isEqualTo(new ModelRef.Hub(new HubId(text))).hasToString(text);
    }

    @ParameterizedTest
    @ValueSource(strings = {"main", "v1.0", "refs/pr/7", "0123456789abcdef0123456789abcdef01234567", "feature/x_y+z"})
    void hub_id_takes_a_revision_after_an_at_sign(String revision) {
        assertThat(parse("owner/name@" + revision)).isEqualTo(new ModelRef.Hub(new HubId("owner/name").at(revision)));
        assertThat(parse("name@v1")).hasToString("name@v1");
    }

    @Test
    void revision_of_a_moved_model_is_searched_under_both_ids() {
        assertThat(KNOWN.hubId("old").at("v1").spellings())
                .extracting(HubId::toString)
                .containsExactly("old@v1", "owner/old@v1");
    }

    @Test
    void existing_directory_with_an_at_sign_in_its_name_is_a_directory() throws IOException {
        Path named = Files.createDirectory(directory.resolve("model@v1"));
        assertThat(parse(named.toString())).isEqualTo(new ModelRef.Directory(named));
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "",
                "..",
                "a..b",
                "/a",
                "a/",
                "a//b",
                ".a",
                "-a",
                "a b",
                "a@b",
                "a:b",
                "a\\b",
                "refs/../x",
                "x.lock",
                "ä"
            })
    void malformed_revision_is_rejected(String revision) {
        assertRefused("owner/name@" + revision, "allowed is a branch, a tag or a commit");
    }

    @Test
    void cache_folder_is_that_of_the_requested_id() {
        assertThat(new HubId("gpt2").folderName()).isEqualTo("models--gpt2");
        assertThat(new HubId("distilbert/distilgpt2").folderName()).isEqualTo("models--distilbert--distilgpt2");
    }

    @Test
    void moved_id_has_two_spellings_the_requested_one_first() {
        assertThat(KNOWN.hubId("old").spellings()).extracting(HubId::text).containsExactly("old", "owner/old");
        assertThat(KNOWN.hubId("owner/old").spellings()).extracting(HubId::text).containsExactly("owner/old", "old");
        assertThat(KNOWN.hubId("owner/new").spellings()).extracting(HubId::text).containsExactly("owner/new");
    }

    @Test
    void built_in_model_is_known_by_name() {
        assertThat(parse("builtin:tiny")).isEqualTo(new ModelRef.Builtin("tiny"));
        assertThat(parse("builtin:chat"))
                .isEqualTo(new ModelRef.Builtin("chat"))
                .hasToString("builtin:chat");
        assertMissing("builtin:huge", "allowed are builtin:tiny, builtin:chat");
    }

    @Test
    void misspelled_built_in_model_gets_a_suggestion() {
        assertMissing("builtin:chatt", "builtin:chat; did you mean builtin:chat?");
    }

    @Test
    void misspelled_shape_gets_a_suggestion() {
        assertMissing("random:smal", "of a config.json; did you mean random:small?");
    }

    @ParameterizedTest
    @ValueSource(strings = {"small", "small-wide"})
    void random_weights_take_a_known_shape(String shape) {
        assertThat(parse("random:" + shape))
                .isEqualTo(new ModelRef.RandomShape(shape))
                .hasToString("random:" + shape);
    }

    @Test
    void random_weights_take_a_configuration_file() throws IOException {
        Path config = Files.createFile(directory.resolve("config.json"));
        assertThat(parse("random:" + config)).isEqualTo(new ModelRef.RandomConfig(config));
    }

    @ParameterizedTest
    @ValueSource(strings = {"random:", "random:smaller", "random:/absent/config.json", "random:src"})
    void random_of_anything_else_is_missing(String text) {
        assertMissing(text, "allowed are random:small, random:small-wide or random:PATH");
    }

    @ParameterizedTest
    @ValueSource(strings = {"./absent", "/absent/../model", "~/absent", "absent/", "../absent", "a/b/c", "C:\\absent"})
    void missing_path_is_reported_as_normalized_absolute_path(String text) {
        assertMissing(
                text,
                "no such directory: "
                        + Quoted.escape(
                                Path.of(text).toAbsolutePath().normalize().toString()));
    }

    @Test
    void missing_path_that_is_normalized_and_absolute_is_reported_once() {
        String text = Path.of("/absent/model").toAbsolutePath().toString();
        assertThatThrownBy(() -> parse(text))
                .isInstanceOf(BadModel.class)
                .hasMessage("model " + Quoted.name(text) + ": no such directory");
    }

    @Test
    void file_instead_of_a_directory_is_rejected() throws IOException {
        Path file = Files.createFile(directory.resolve("model.safetensors"));
        assertMissing(file.toString(), "is a file; it must be the directory");
    }

    @Test
    void gguf_file_is_recognized() throws IOException {
        Path file = Files.createFile(directory.resolve("model-Q4_K_M.gguf"));
        assertMissing(file.toString(), "is a GGUF file; GGUF is not supported");
        assertRefused("owner/name-GGUF:Q4_K_M", "GGUF is not supported");
    }

    @ParameterizedTest
    @ValueSource(strings = {"acme/x_", "acme/_x", "_acme/x", "x__y"})
    void ids_that_the_hub_allows_are_ids(String text) {
        assertThat(parse(text)).isEqualTo(new ModelRef.Hub(new HubId(text)));
    }

    @Test
    void name_may_have_96_characters_without_its_owner() {
        String name = "n".repeat(96);
        assertThat(parse("owner/" + name)).isEqualTo(new ModelRef.Hub(new HubId("owner/" + name)));
        assertRefused("owner/" + name + "n", "neither a directory nor a hub id");
    }

    @ParameterizedTest
    @ValueSource(strings = {"", "  ", "gpt2 medium", "own--er/x", "/x\0", "owner/x.git", "-x", "owner/..", "hä/x"})
    void malformed_reference_is_rejected(String text) {
        assertThatThrownBy(() -> parse(text)).isInstanceOf(BadInput.class);
    }

    @Test
    void error_lists_the_allowed_references() {
        assertRefused(
                "gpt2 medium",
                "allowed are a directory, a hub id such as old or owner/name, with a branch, tag or commit"
                        + " owner/name@revision, builtin:tiny, builtin:chat, random:small");
    }

    private static void assertMissing(String text, String message) {
        assertThatThrownBy(() -> parse(text)).isInstanceOf(BadModel.class).hasMessageContaining(message);
    }

    private static void assertRefused(String text, String message) {
        assertThatThrownBy(() -> parse(text)).isInstanceOf(BadInput.class).hasMessageContaining(message);
    }
}
