package io.roseinfer;

import static org.assertj.core.api.Assertions.assertThat;

import com.tngtech.archunit.core.domain.JavaClass;
import com.tngtech.archunit.core.domain.JavaClasses;
import com.tngtech.archunit.core.domain.JavaCodeUnit;
import com.tngtech.archunit.core.domain.JavaMember;
import com.tngtech.archunit.core.domain.JavaModifier;
import com.tngtech.archunit.core.domain.JavaType;
import com.tngtech.archunit.core.importer.ClassFileImporter;
import com.tngtech.archunit.core.importer.ImportOption;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.HashSet;
import java.util.Set;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;

/** Tests that the list of the public API, a section of embed.md, is complete. */
class PublicApiTest {
    private static final Path PAGE = Path.of("src/site/markdown/how-to/embed.md");
    private static final String ROOT = "io.roseinfer";

    private final JavaClasses classes = new ClassFileImporter()
            .withImportOption(new ImportOption.DoNotIncludeTests())
            .importPackages(ROOT);

    private final String section;

    PublicApiTest() throws IOException {
        section = Files.readString(PAGE).split("## Public API|## Next")[1];
    }

    /** Returns the names in code spans of the parts of the section before or after the sentence on what may change. */
    private Set<String> names(boolean excluded) {
        Set<String> names = new HashSet<>();
        Pattern.compile("`([\\w.]+)`")
                .matcher(section.split("Everything else may change")[excluded ? 1 : 0])
                .results()
                .forEach(name -> names.add(name.group(1)));
        return names;
    }

    private boolean isApi(JavaClass type) {
        JavaClass outer = type;
        while (outer.getEnclosingClass().isPresent()) {
            outer = outer.getEnclosingClass().get();
        }
        String home = outer.getPackageName();
        Set<String> listed = names(false);
        return !names(true).contains(outer.getSimpleName())
                && (listed.contains(outer.getSimpleName())
                        || listed.contains(home)
                        || listed.contains(home.substring(ROOT.length())));
    }

    private static boolean isVisible(JavaMember member) {
        return member.getModifiers().contains(JavaModifier.PUBLIC)
                || member.getModifiers().contains(JavaModifier.PROTECTED);
    }

    private static boolean isVisible(JavaClass type) {
        return type.getModifiers().contains(JavaModifier.PUBLIC)
                && type.getEnclosingClass().map(PublicApiTest::isVisible).orElse(true);
    }

    private static Stream<JavaType> signature(JavaCodeUnit unit) {
        return Stream.concat(
                Stream.concat(Stream.of(unit.getReturnType()), unit.getParameterTypes().stream()),
                unit.getExceptionTypes().stream());
    }

    @Test
    void every_listed_type_exists() {
        Set<String> known = new HashSet<>();
        classes.forEach(type -> {
            known.add(type.getSimpleName());
            known.add(type.getPackageName());
            known.add(type.getPackageName().substring(ROOT.length()));
            type.getMethods().forEach(method -> known.add(type.getSimpleName() + "." + method.getName()));
        });
        assertThat(names(false)).isSubsetOf(known);
        assertThat(names(true)).isSubsetOf(known);
    }

    private Stream<String> unlisted(Stream<? extends JavaType> types, String where) {
        Set<String> excluded = names(true);
        return types.flatMap(type -> type.getAllInvolvedRawTypes().stream())
                .map(JavaClass::getBaseComponentType)
                .filter(type -> type.getPackageName().startsWith(ROOT))
                .filter(type -> !isApi(type)
                        && !excluded.contains(type.getSimpleName())
                        && !excluded.contains(type.getPackageName()))
                .map(type -> type.getSimpleName() + " in " + where);
    }

    private Stream<JavaClass> api() {
        return classes.stream().filter(type -> isVisible(type) && isApi(type));
    }

    @Test
    void members_of_the_api_accept_and_return_types_of_the_api() {
        Set<String> excluded = names(true);
        assertThat(api().flatMap(type -> type.getCodeUnits().stream())
                        .filter(PublicApiTest::isVisible)
                        .filter(unit -> !excluded.contains(unit.getOwner().getSimpleName() + "." + unit.getName()))
                        .flatMap(unit -> unlisted(signature(unit), unit.getFullName()))
                        .distinct())
                .isEmpty();
    }

    @Test
    void fields_of_the_api_have_types_of_the_api() {
        assertThat(api().flatMap(type -> type.getFields().stream())
                        .filter(PublicApiTest::isVisible)
                        .flatMap(field -> unlisted(Stream.of(field.getType()), field.getFullName())))
                .isEmpty();
    }

    @Test
    void public_supertypes_of_the_api_are_in_the_api() {
        assertThat(api().flatMap(type -> unlisted(
                        Stream.concat(type.getSuperclass().stream(), type.getInterfaces().stream())
                                .filter(supertype -> isVisible(supertype.toErasure())),
                        type.getName())))
                .isEmpty();
    }
}
