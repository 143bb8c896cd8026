package io.roseinfer;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.io.InputStream;
import java.net.URL;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;
import tools.jackson.databind.JsonNode;

/** Checks the files that hosts of repositories, and tools for licenses and citations, read. */
class RepositoryFilesTest {
    /** The kinds of elements of an issue form. */
    private static final List<String> ELEMENTS = List.of("markdown", "textarea", "input", "dropdown", "checkboxes");

    private static JsonNode yaml(Path file) throws IOException {
        return Manifests.documents(Files.readString(file)).getFirst();
    }

    static List<Path> forms() throws IOException {
        try (Stream<Path> files = Files.list(Path.of(".github/ISSUE_TEMPLATE"))) {
            return files.filter(file -> !file.endsWith("config.yml")).toList();
        }
    }

    @ParameterizedTest
    @MethodSource("forms")
    void issue_form_has_a_name_and_elements_with_ids(Path form) throws IOException {
        JsonNode fields = yaml(form);
        assertThat(fields.propertyNames()).containsExactlyInAnyOrder("name", "description", "labels", "body");
        List<JsonNode> elements = fields.get("body").valueStream().toList();
        assertThat(elements).isNotEmpty().allSatisfy(element -> {
            assertThat(element.get("type").stringValue()).isIn(ELEMENTS);
            assertThat(element.at("/attributes/label").stringValue()).isNotBlank();
        });
        assertThat(elements.stream().map(element -> element.get("id").stringValue()))
                .doesNotHaveDuplicates();
    }

    @Test
    void workflow_runs_the_script_of_ci() throws IOException {
        JsonNode steps = yaml(Path.of(".github/workflows/ci.yml")).at("/jobs/build/steps");
        assertThat(steps.valueStream().map(step -> step.path("run").asString("")))
                .contains(".ci/run");
        assertThat(Path.of(".ci/run")).isExecutable();
    }

    @Test
    void citation_has_the_version_of_the_project() throws IOException {
        Matcher version = Pattern.compile("<artifactId>roseinfer</artifactId>\n  <version>(.*?)</version>")
                .matcher(Files.readString(Path.of("pom.xml")));
        assertThat(version.find()).isTrue();
        assertThat(yaml(Path.of("CITATION.cff")).get("version").stringValue()).isEqualTo(version.group(1));
    }

    @Test
    void notice_is_in_the_jar() throws IOException {
        List<String> notices = new ArrayList<>();
        for (URL notice :
                Collections.list(RepositoryFilesTest.class.getClassLoader().getResources("META-INF/NOTICE"))) {
            try (InputStream in = notice.openStream()) {
                notices.add(new String(in.readAllBytes(), StandardCharsets.UTF_8));
            }
        }
        assertThat(notices).contains(Files.readString(Path.of("NOTICE")));
    }
}
