package io.roseinfer;

import io.roseinfer.base.StrictJson;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.Stream;
import org.yaml.snakeyaml.LoaderOptions;
import org.yaml.snakeyaml.Yaml;
import org.yaml.snakeyaml.constructor.SafeConstructor;
import tools.jackson.databind.JsonNode;

/**
 * The manifests of the example for Kubernetes.
 *
 * @param text of all files
 * @param objects of all files
 */
public record Manifests(String text, List<JsonNode> objects) {
    private static final Path FOLDER = Path.of("tools/examples/kubernetes");

    /** Reads them; duplicate keys are rejected. */
    public static Manifests read() {
        StringBuilder text = new StringBuilder();
        List<JsonNode> objects = new ArrayList<>();
        try (Stream<Path> files = Files.list(FOLDER)) {
            for (Path file : files.filter(path -> path.toString().endsWith(".yaml"))
                    .sorted()
                    .toList()) {
                String yaml = Files.readString(file);
                text.append(yaml);
                objects.addAll(documents(yaml));
            }
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
        return new Manifests(text.toString(), objects);
    }

    /** The documents of a YAML file. */
    public static List<JsonNode> documents(String yaml) {
        LoaderOptions options = new LoaderOptions();
        options.setAllowDuplicateKeys(false);
        List<JsonNode> documents = new ArrayList<>();
        new Yaml(new SafeConstructor(options))
                .loadAll(yaml)
                .forEach(document -> documents.add(StrictJson.mapper().valueToTree(document)));
        return documents;
    }

    /** The objects of a kind. */
    public List<JsonNode> all(String kind) {
        return objects.stream()
                .filter(object -> object.get("kind").stringValue().equals(kind))
                .toList();
    }

    /** The object of a kind and a name. */
    public JsonNode one(String kind, String name) {
        return all(kind).stream()
                .filter(object -> object.at("/metadata/name").stringValue().equals(name))
                .findFirst()
                .orElseThrow(() -> new AssertionError("there is no " + kind + " " + name));
    }

    /** Returns the only container of a deployment's pods. */
    public JsonNode container(String deployment) {
        return one("Deployment", deployment).at("/spec/template/spec/containers/0");
    }
}
