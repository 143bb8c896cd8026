package io.roseinfer;

import static org.assertj.core.api.Assertions.assertThat;

import com.tngtech.archunit.core.domain.JavaClass;
import com.tngtech.archunit.core.domain.JavaClasses;
import com.tngtech.archunit.core.domain.JavaModifier;
import com.tngtech.archunit.core.importer.ClassFileImporter;
import com.tngtech.archunit.core.importer.ImportOption;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/**
 * Public types of options and requests are created by a factory or builder and changed by their {@code with} methods.
 */
@Tag("process")
class OptionTypesTest {
    private static final Pattern NAME = Pattern.compile(".*(Options|Settings|Params|Request|Terms)");
    private static final int MAX_ARGUMENTS = 4;

    private static JavaClasses classes;

    @BeforeAll
    static void readClasses() {
        classes = new ClassFileImporter()
                .withImportOption(new ImportOption.DoNotIncludeTests())
                .importPackages("io.roseinfer");
    }

    private static List<JavaClass> types() {
        List<JavaClass> types = classes.stream()
                .filter(type -> type.isRecord() && type.getModifiers().contains(JavaModifier.PUBLIC))
                .filter(type -> NAME.matcher(type.getSimpleName()).matches()
                        && !type.getPackageName().startsWith("io.roseinfer.bench"))
                .toList();
        assertThat(types)
                .extracting(JavaClass::getSimpleName)
                .contains("DeviceOptions", "EngineOptions", "GenerationRequest", "SamplingParams", "Settings");
        return types;
    }

    @Test
    void other_packages_call_no_constructor_of_many_arguments() {
        assertThat(types())
                .flatExtracting(JavaClass::getConstructorCallsToSelf)
                .filteredOn(call -> call.getTarget().getRawParameterTypes().size() > MAX_ARGUMENTS)
                .filteredOn(call -> !call.getOriginOwner()
                        .getPackageName()
                        .equals(call.getTargetOwner().getPackageName()))
                .isEmpty();
    }

    @Test
    void documents_and_examples_call_no_constructor_of_many_arguments() throws IOException {
        String names = types().stream()
                .filter(type -> type.getConstructors().stream()
                        .anyMatch(made -> made.getRawParameterTypes().size() > MAX_ARGUMENTS))
                .map(JavaClass::getSimpleName)
                .collect(Collectors.joining("|"));
        Pattern made = Pattern.compile("new (" + names + ")\\(");
        for (String place : List.of("README.md", "src/site/markdown", "tools/examples")) {
            try (Stream<Path> files = Files.walk(Path.of(place))) {
                for (Path file : files.filter(path -> path.toString().matches(".*\\.(md|java)"))
                        .toList()) {
                    assertThat(Files.readString(file)).as(file.toString()).doesNotContainPattern(made);
                }
            }
        }
    }
}
