package io.roseinfer;

import static com.tngtech.archunit.base.DescribedPredicate.describe;
import static com.tngtech.archunit.core.domain.JavaClass.Predicates.resideInAPackage;
import static com.tngtech.archunit.lang.syntax.ArchRuleDefinition.fields;
import static com.tngtech.archunit.lang.syntax.ArchRuleDefinition.noClasses;
import static org.assertj.core.api.Assertions.assertThat;

import com.tngtech.archunit.base.DescribedPredicate;
import com.tngtech.archunit.core.domain.JavaAccess;
import com.tngtech.archunit.core.domain.JavaClass;
import com.tngtech.archunit.core.domain.JavaClasses;
import com.tngtech.archunit.core.domain.JavaMethod;
import com.tngtech.archunit.core.domain.JavaModifier;
import com.tngtech.archunit.core.importer.ClassFileImporter;
import com.tngtech.archunit.core.importer.ImportOption;
import com.tngtech.archunit.core.importer.Location;
import io.roseinfer.backend.cpu.kernel.WeightFormat;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.AbstractCollection;
import java.util.AbstractMap;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestInstance;

/**
 * The dependencies between packages, checked on the compiled classes. Reading these takes seconds and much memory, so no other test
 * does it, and an instance instead of the class refers to them.
 */
@TestInstance(TestInstance.Lifecycle.PER_CLASS)
class ArchitectureTest {
    private static final String ROOT = "io.roseinfer";
    private static final String FAMILY = ROOT + ".model.family";

    /** Packages by layer; a package may depend on the layers below it, and within its layer only on itself. */
    static final List<List<String>> FLOORS = List.of(
            List.of("base"),
            List.of("tensor", "metrics", "grammar", "tokenizer.chat.jinja"),
            List.of("checkpoint", "tokenizer", "tokenizer.chat"),
            List.of("safetensors", "kv", "sampling", "tokenizer.chat.reply"),
            List.of("hub", "scheduler.policy"),
            List.of("model", "scheduler"),
            List.of("model.family", "observe"),
            List.of("backend", "model.files"),
            List.of("backend.cpu.kernel", "backend.cuda.driver", "backend.cuda.nvtx"),
            List.of("backend.cpu.scalar", "backend.cpu.panama"),
            List.of("backend.cpu", "backend.cuda", "backend.sim"),
            List.of("engine.routing"),
            List.of("engine"),
            List.of(ROOT),
            List.of("server.http"),
            List.of("server.api"),
            List.of("server", "bench.load", "batch"),
            List.of("bench.http"),
            List.of("bench"),
            List.of("bench.report"),
            List.of("bench.replay", "bench.compare"),
            List.of("bench.report.html"),
            List.of("cli.terminal"),
            List.of("cli.flags"),
            List.of("cli.bench"),
            List.of("cli"));

    private static final int METHOD_LINES = 70;

    /** Options and requests with more components are created by a factory and changed by their withers. */
    private static final int MAX_POSITIONS = 4;

    private static final Pattern OPTIONS = Pattern.compile("\\w*(Options|Params|Request|Settings)|HttpLimits");

    private static final Pattern COMMENT_OR_LITERAL = Pattern.compile(
            "\"\"\"(?s:\\\\.|[^\\\\])*?\"\"\"|\"(?:\\\\.|[^\"\\\\\n])*\"|'(?:\\\\.|[^'\\\\\n])*'|(?s:/\\*.*?\\*/)|//[^\n]*");
    private static final Pattern TYPE =
            Pattern.compile("\\b(?:class|interface|enum)\\s+\\w+|\\brecord\\s+\\w+\\s*[(<]");

    /** The classes of the main sources and of the tests. */
    private final JavaClasses all = new ClassFileImporter().importPackages(ROOT);

    /** The classes of the main sources; dependencies on them include those of tests. */
    private final JavaClasses classes = all.that(describe("are not tests", ArchitectureTest::isMain));

    private static boolean isMain(JavaClass type) {
        ImportOption noTests = new ImportOption.DoNotIncludeTests();
        return type.getSource()
                .filter(source -> noTests.includes(Location.of(source.getUri())))
                .isPresent();
    }

    @Test
    void classes_are_found() {
        assertThat(classes.size()).isGreaterThan(100);
    }

    /** A name in {@link #FLOORS} and its index. */
    private record Layer(String name, int floor) {
        /** Returns whether this is the package's name, or it is a subpackage and no subpackage has a name. */
        boolean has(String packageName) {
            boolean inParts = name.equals(ROOT)
                    || FLOORS.stream().flatMap(List::stream).anyMatch(other -> other.startsWith(name + "."));
            String full = name.equals(ROOT) ? ROOT : ROOT + "." + name;
            return packageName.equals(full) || (!inParts && packageName.startsWith(full + "."));
        }
    }

    /** Returns the layers by package. */
    private Map<String, Layer> layers() {
        Map<String, Layer> layers = new HashMap<>();
        for (int floor = 0; floor < FLOORS.size(); floor++) {
            for (String name : FLOORS.get(floor)) {
                Layer layer = new Layer(name, floor);
                classes.stream()
                        .map(JavaClass::getPackageName)
                        .distinct()
                        .filter(layer::has)
                        .forEach(packageName -> layers.put(packageName, layer));
            }
        }
        return layers;
    }

    @Test
    void every_package_has_a_layer() {
        assertThat(layers().keySet())
                .isEqualTo(classes.stream().map(JavaClass::getPackageName).collect(Collectors.toSet()));
    }

    @Test
    void imports_go_down_only() {
        Map<String, Layer> layers = layers();
        assertThat(classes.stream()
                        .flatMap(type -> type.getDirectDependenciesFromSelf().stream())
                        .filter(dependency -> {
                            Layer lower = layers.get(dependency.getOriginClass().getPackageName());
                            Layer upper = layers.get(dependency.getTargetClass().getPackageName());
                            return lower != null
                                    && upper != null
                                    && !lower.name().equals(upper.name())
                                    && upper.floor() >= lower.floor();
                        }))
                .isEmpty();
    }

    /** A constant of another class leaves no trace in the class that the compiler makes. */
    @Test
    void names_in_sources_go_down_only() throws IOException {
        Map<String, Layer> layers = layers();
        List<String> upward = new ArrayList<>();
        try (Stream<Path> files = Files.walk(Path.of("src/main/java"))) {
            for (Path file :
                    files.filter(path -> path.toString().endsWith(".java")).toList()) {
                String code = COMMENT_OR_LITERAL.matcher(Files.readString(file)).replaceAll("");
                Layer lower = Objects.requireNonNull(layers.get(firstGroup("(?m)^package ([\\w.]+);", code)));
                Pattern.compile("\\b(io\\.roseinfer(?:\\.[a-z]\\w*)*)\\.[A-Z]")
                        .matcher(code)
                        .results()
                        .map(name -> layers.get(name.group(1)))
                        .filter(upper -> !lower.name().equals(upper.name()) && upper.floor() >= lower.floor())
                        .forEach(upper -> upward.add(file + " names " + upper.name()));
            }
        }
        assertThat(upward).isEmpty();
    }

    /** Scripts are removed once all scripts they import are removed; the rest has import cycles. */
    @Test
    void python_scripts_do_not_import_in_circles() throws IOException {
        Pattern imported = Pattern.compile("^\\s*(?:import|from) (\\w+)", Pattern.MULTILINE);
        Map<String, Set<String>> imports = new HashMap<>();
        try (Stream<Path> files = Files.list(Path.of("tools/golden"))) {
            for (Path file :
                    files.filter(path -> path.toString().endsWith(".py")).toList()) {
                Set<String> names = new HashSet<>();
                imported.matcher(Files.readString(file)).results().forEach(match -> names.add(match.group(1)));
                imports.put(file.getFileName().toString().replace(".py", ""), names);
            }
        }
        assertThat(imports.get("golden")).contains("fixtures", "chat", "rope", "tiny");
        imports.values().forEach(names -> names.retainAll(Set.copyOf(imports.keySet())));
        while (imports.values().removeIf(Set::isEmpty)) {
            imports.values().forEach(names -> names.retainAll(imports.keySet()));
        }
        assertThat(imports).isEmpty();
    }

    @Test
    void model_families_are_used_only_for_opening_models() {
        noClasses()
                .that()
                .resideOutsideOfPackages(ROOT, FAMILY, ROOT + ".model.files", ROOT + ".cli..")
                .should()
                .dependOnClassesThat()
                .resideInAPackage(FAMILY)
                .check(classes);
    }

    /** The classes that may refer to a family, by simple name. */
    private List<String> families() {
        List<String> names = classes.stream()
                .filter(type -> type.getPackageName().equals(FAMILY))
                .filter(type -> !type.isInterface() && type.isAssignableTo(FAMILY + ".Family"))
                .map(JavaClass::getSimpleName)
                .toList();
        assertThat(names).isNotEmpty();
        return names;
    }

    /** Packages whose public members are API; {@code nvtx} has methods that native code finds by name. */
    private static final Set<String> CALLED_FROM_OUTSIDE = Set.of(
            ROOT,
            ROOT + ".engine",
            ROOT + ".engine.routing",
            ROOT + ".sampling",
            ROOT + ".scheduler.policy",
            ROOT + ".metrics",
            ROOT + ".observe",
            ROOT + ".backend.cuda.nvtx");

    @Test
    void every_method_is_called_or_is_part_of_an_interface_to_programs() throws IOException {
        Set<String> words = new HashSet<>();
        for (String folder : List.of("src/spark", "jmh", "tools")) {
            try (Stream<Path> files = Files.walk(Path.of(folder))) {
                for (Path file :
                        files.filter(path -> path.toString().endsWith(".java")).toList()) {
                    Pattern.compile("\\w+")
                            .matcher(Files.readString(file))
                            .results()
                            .forEach(word -> words.add(word.group()));
                }
            }
        }
        assertThat(all.stream()
                        .filter(type -> classes.contain(type.getName()))
                        .filter(type -> !CALLED_FROM_OUTSIDE.contains(type.getPackageName()))
                        .flatMap(type -> type.getMethods().stream())
                        .filter(method -> method.getAnnotations().isEmpty() && !words.contains(method.getName()))
                        .filter(method -> isWrittenByHand(method) && !overrides(method))
                        .filter(method -> Stream.concat(
                                        method.getCallsOfSelf().stream(), method.getReferencesToSelf().stream())
                                .allMatch(call -> call.getOrigin().equals(method)))
                        .map(JavaMethod::getFullName))
                .as("methods that neither roseinfer nor a test calls")
                .isEmpty();
    }

    /**
     * Public types that no other package refers to: the command's entry point, a routing policy's argument, parts of
     * {@code ModelRef} and {@code Grammar}.
     */
    private static final Set<String> PUBLIC_FOR_USERS = Set.of(
            ROOT + ".cli.Main",
            ROOT + ".engine.routing.ReplicaView",
            ROOT + ".hub.HubId",
            ROOT + ".grammar.CodePointSet",
            ROOT + ".grammar.Expression",
            ROOT + ".grammar.Regex");

    @Test
    void public_type_is_used_by_another_package() throws IOException {
        Map<String, Set<String>> importers = new HashMap<>();
        for (String folder : List.of("src", "jmh", "tools")) {
            try (Stream<Path> files = Files.walk(Path.of(folder))) {
                for (Path file :
                        files.filter(path -> path.toString().endsWith(".java")).toList()) {
                    String text = Files.readString(file);
                    String home = firstGroup("(?m)^package ([\\w.]+);", text);
                    Pattern.compile("(?m)^import (?:static )?(io\\.roseinfer\\.(?:[a-z]\\w*\\.)*[A-Z]\\w*)")
                            .matcher(text)
                            .results()
                            .forEach(name -> importers
                                    .computeIfAbsent(name.group(1), unused -> new HashSet<>())
                                    .add(home));
                }
            }
        }
        assertThat(all.stream()
                        .filter(type -> classes.contain(type.getName()) && type.isTopLevelClass())
                        .filter(type -> type.getModifiers().contains(JavaModifier.PUBLIC))
                        .filter(type -> !PUBLIC_FOR_USERS.contains(type.getName()))
                        .filter(type -> importers.getOrDefault(type.getName(), Set.of()).stream()
                                .allMatch(type.getPackageName()::equals))
                        .filter(type -> type.getDirectDependenciesToSelf().stream()
                                .allMatch(use ->
                                        use.getOriginClass().getPackageName().equals(type.getPackageName())))
                        .map(JavaClass::getName))
                .as("public types that only their own package uses")
                .isEmpty();
    }

    @Test
    void options_and_requests_are_built_by_name_outside_their_package() throws IOException {
        List<JavaClass> types = classes.stream()
                .filter(type -> type.isRecord() && type.isTopLevelClass())
                .filter(type -> type.getModifiers().contains(JavaModifier.PUBLIC))
                .filter(type -> OPTIONS.matcher(type.getSimpleName()).matches())
                .filter(type -> type.reflect().getRecordComponents().length > MAX_POSITIONS)
                .toList();
        assertThat(types)
                .extracting(JavaClass::getSimpleName)
                .contains("DeviceOptions", "EngineOptions", "GenerationRequest", "SamplingParams", "Settings");
        List<String> calls = new ArrayList<>();
        for (String place : List.of("src", "jmh", "tools", "README.md")) {
            try (Stream<Path> files = Files.walk(Path.of(place))) {
                for (Path file : files.filter(path -> path.toString().matches(".*\\.(java|md)"))
                        .toList()) {
                    String text = Files.readString(file);
                    String home = firstGroup("(?m)^package ([\\w.]+);", text);
                    types.stream()
                            .filter(type -> !home.equals(type.getPackageName())
                                    && (home.isEmpty() || text.contains("import " + type.getName() + ";"))
                                    && Pattern.compile("\\bnew " + type.getSimpleName() + "\\(|\\b"
                                                    + type.getSimpleName() + "::new\\b")
                                            .matcher(text)
                                            .find())
                            .forEach(type -> calls.add(file + ": " + type.getSimpleName()));
                }
            }
        }
        assertThat(calls).as("constructors called by position").isEmpty();
    }

    private static String firstGroup(String pattern, String text) {
        return Pattern.compile(pattern)
                .matcher(text)
                .results()
                .map(found -> found.group(1))
                .findFirst()
                .orElse("");
    }

    /** Returns false for lambdas, bridges and compiler-generated methods of enums and records. */
    private static boolean isWrittenByHand(JavaMethod method) {
        Set<JavaModifier> modifiers = method.getModifiers();
        boolean isAccessor = method.getOwner().isRecord()
                && method.getRawParameterTypes().isEmpty()
                && method.getOwner().tryGetField(method.getName()).isPresent();
        return !modifiers.contains(JavaModifier.SYNTHETIC)
                && !modifiers.contains(JavaModifier.BRIDGE)
                && !method.getName().startsWith("lambda$")
                && !Set.of("main", "values", "valueOf").contains(method.getName())
                && !isAccessor;
    }

    private static boolean overrides(JavaMethod method) {
        int parameters = method.getRawParameterTypes().size();
        return Stream.concat(
                        method.getOwner().getAllRawSuperclasses().stream(),
                        method.getOwner().getAllRawInterfaces().stream())
                .flatMap(type -> Stream.of(type.reflect().getDeclaredMethods()))
                .anyMatch(other -> other.getName().equals(method.getName()) && other.getParameterCount() == parameters);
    }

    /** Any spelling; tools with such a name, and tokenizers, which share a vocabulary, are exempt. */
    @Test
    void sources_name_a_family_only_in_its_package() throws IOException {
        for (String family : families()) {
            Pattern named = Pattern.compile(family + "(?!-bench|\\.cpp)", Pattern.CASE_INSENSITIVE);
            assertThat(naming(Path.of("src/main/java"), named))
                    .isNotEmpty()
                    .allMatch(path -> path.contains("/model/family/") || path.contains("/tokenizer/"));
            assertThat(naming(Path.of("kernels"), named)).isEmpty();
        }
    }

    /** Tests may open a family's models by name, but must not depend on its class. */
    @Test
    void tests_name_the_class_of_a_family_only_in_its_tests() throws IOException {
        for (String family : families()) {
            assertThat(naming(Path.of("src/test/java"), Pattern.compile(family)))
                    .as("each family has a test of its class, here %s", family)
                    .isNotEmpty()
                    .allMatch(path -> path.contains("/model/family/") || path.contains("/tokenizer/"));
        }
    }

    /** The files below a folder that contain the pattern. */
    private static List<String> naming(Path folder, Pattern pattern) throws IOException {
        List<String> found = new ArrayList<>();
        try (Stream<Path> files = Files.walk(folder)) {
            for (Path file : files.filter(Files::isRegularFile).toList()) {
                if (pattern.matcher(Files.readString(file, StandardCharsets.ISO_8859_1))
                        .find()) {
                    found.add(file.toString().replace('\\', '/'));
                }
            }
        }
        return found;
    }

    /** The class itself, the list, the products, perhaps tiles and the format of a head. */
    @Test
    void sources_name_a_weight_format_of_the_cpu_only_in_kernels_and_five_files() throws IOException {
        for (WeightFormat format : WeightFormat.all()) {
            String name = format.getClass().getSimpleName();
            assertThat(naming(Path.of("src/main/java"), Pattern.compile("\\b" + name + "\\b")))
                    .as(name)
                    .contains("src/main/java/io/roseinfer/backend/cpu/kernel/" + name + ".java")
                    .hasSizeLessThanOrEqualTo(5)
                    .allMatch(path -> path.contains("/backend/cpu/kernel/") || path.contains("/backend/cpu/panama/"));
        }
    }

    @Test
    void engine_does_not_depend_on_devices() {
        noClasses()
                .that()
                .resideInAnyPackage(ROOT + ".engine..", ROOT + ".bench..", ROOT + ".server..", ROOT + ".scheduler..")
                .should()
                .dependOnClassesThat()
                .resideInAnyPackage(ROOT + ".backend.cpu..", ROOT + ".backend.cuda..", ROOT + ".backend.sim..")
                .allowEmptyShould(true)
                .check(classes);
    }

    private void onlyIn(String home, String... foreign) {
        noClasses()
                .that()
                .resideOutsideOfPackage(home)
                .should()
                .dependOnClassesThat()
                .resideInAnyPackage(foreign)
                .check(classes);
    }

    @Test
    void vector_api_stays_in_panama() {
        onlyIn(ROOT + ".backend.cpu.panama..", "jdk.incubator..");
    }

    @Test
    void javacpp_stays_in_cuda() {
        onlyIn(ROOT + ".backend.cuda..", "org.bytedeco..");
    }

    @Test
    void native_libraries_are_loaded_only_in_cuda() {
        noClasses()
                .that()
                .resideOutsideOfPackage(ROOT + ".backend.cuda..")
                .should()
                .callMethod(System.class, "load", String.class)
                .orShould()
                .callMethod(System.class, "loadLibrary", String.class)
                .check(classes);
    }

    @Test
    void sockets_are_used_only_by_the_server_writer() {
        onlyIn(ROOT + ".server.http..", "io.netty..");
    }

    @Test
    void prometheus_client_stays_in_the_server() {
        onlyIn(ROOT + ".server..", "io.prometheus..");
    }

    @Test
    void picocli_and_the_progress_bar_stay_in_cli() {
        onlyIn(ROOT + ".cli..", "picocli..", "me.tongfei..");
    }

    /** The Spark integration is a separate jar, which the default build does not make. */
    @Test
    void core_does_not_depend_on_spark() {
        noClasses()
                .should()
                .dependOnClassesThat()
                .resideInAnyPackage(ROOT + ".spark..", "org.apache.spark..", "org.apache.hadoop..", "scala..")
                .check(classes);
    }

    @Test
    void blocks_and_the_scheduler_use_no_tensors_threads_or_hash_maps() {
        noClasses()
                .that()
                .resideInAnyPackage(ROOT + ".kv..", ROOT + ".scheduler..")
                .should()
                .dependOnClassesThat()
                .resideInAnyPackage(ROOT + ".tensor..", "java.lang.foreign..", "java.util.concurrent..")
                .orShould()
                .dependOnClassesThat()
                .areAssignableTo(HashMap.class)
                .orShould()
                .dependOnClassesThat()
                .belongToAnyOf(HashSet.class, Thread.class)
                // The order of the JDK's immutable sets and maps differs from run to run.
                .orShould()
                .accessTargetWhere(isOneOf(
                        "java\\.lang\\.System\\.identityHashCode\\(.*",
                        "java\\.util\\.UUID\\.randomUUID\\(\\)",
                        "java\\.util\\.(Set|Map)\\.(of|copyOf|ofEntries)\\(.*",
                        "java\\.util\\.stream\\.Collectors\\.(to\\w*(Set|Map)|groupingBy)\\(.*"))
                .because("they decide, the same way every run, and compute nothing")
                .check(classes);
    }

    /** Selects calls of and references to methods and constructors by their full names, such as {@code java.util.Date.<init>()}. */
    private static DescribedPredicate<JavaAccess<?>> isOneOf(String... names) {
        Pattern pattern = Pattern.compile(String.join("|", names));
        return describe(
                "target is one of " + pattern,
                access -> pattern.matcher(access.getTarget().getFullName()).matches());
    }

    @Test
    void time_is_passed_in() {
        noClasses()
                .that()
                .doNotBelongToAnyOf(io.roseinfer.base.Clock.class)
                .should()
                .accessTargetWhere(isOneOf(
                        "java\\.lang\\.System\\.(nanoTime|currentTimeMillis)\\(\\)",
                        "java\\.time\\..*\\.now\\(.*",
                        "java\\.time\\.Clock\\.(system|tick).*",
                        "java\\.util\\.(Date\\.<init>\\(\\)|Calendar\\.getInstance\\(.*)"))
                .check(classes);
    }

    @Test
    void only_the_composition_roots_choose_the_time_of_day() {
        noClasses()
                .that()
                .resideOutsideOfPackages(ROOT, ROOT + ".cli..")
                .should()
                .accessTargetWhere(isOneOf("java\\.time\\.InstantSource\\.system\\(\\)"))
                .check(classes);
    }

    @Test
    void only_the_composition_roots_read_the_environment() {
        noClasses()
                .that()
                .resideOutsideOfPackages(ROOT, ROOT + ".cli..")
                .should()
                .callMethod(System.class, "getenv")
                .orShould()
                .callMethod(System.class, "getenv", String.class)
                .check(classes);
    }

    @Test
    void only_the_command_line_exits() {
        noClasses()
                .that()
                .resideOutsideOfPackage(ROOT + ".cli..")
                .should()
                .callMethod(System.class, "exit", int.class)
                .orShould()
                .callMethod(Runtime.class, "halt", int.class)
                .check(classes);
    }

    @Test
    void common_pool_and_unseeded_randomness_are_not_used() {
        noClasses()
                .should()
                .accessTargetWhere(isOneOf(
                        "java\\.util\\.concurrent\\.(ForkJoinPool\\.commonPool|ThreadLocalRandom\\.current)\\(\\)",
                        "java\\.util\\.(Random|SplittableRandom)\\.<init>\\(\\)",
                        "java\\.util\\.random\\.Random.*\\.(of|create|getDefault)\\(.*",
                        "java\\.util\\.Collections\\.shuffle\\(java\\.util\\.List\\)",
                        "java\\.security\\.SecureRandom\\..*",
                        "java\\.lang\\.Math\\.random\\(\\)"))
                .check(classes);
    }

    /** Output goes through a console that is passed in. */
    @Test
    void nothing_prints_to_the_streams_of_the_process() {
        noClasses()
                .should()
                .accessTargetWhere(isOneOf("java\\.lang\\.System\\.(out|err)"))
                .check(classes);
    }

    @Test
    void no_process_is_started() {
        noClasses()
                .should()
                .accessTargetWhere(isOneOf("java\\.lang\\.(Runtime\\.exec|ProcessBuilder\\.start)\\(.*"))
                .check(classes);
    }

    /** The command loads the classes of policies, and the driver package the library of CUDA. */
    @Test
    void reflection_is_used_only_by_the_command_line_and_the_cuda_driver() {
        noClasses()
                .that()
                .resideOutsideOfPackages(ROOT + ".cli..", ROOT + ".backend.cuda.driver")
                .should()
                .accessTargetWhere(isOneOf(
                        "java\\.lang\\.reflect\\.\\w+\\.setAccessible\\(.*",
                        "java\\.lang\\.Class\\.forName\\(.*",
                        "java\\.lang\\.System\\.(setProperty|setProperties|clearProperty)\\(.*"))
                .check(classes);
    }

    @Test
    void sockets_are_opened_only_by_the_server_and_the_benchmark_of_servers() {
        noClasses()
                .that()
                .resideOutsideOfPackages(ROOT + ".server..", ROOT + ".bench.http")
                .should()
                .accessTargetWhere(isOneOf(
                        "java\\.net\\.\\w*Socket\\.<init>\\(.*",
                        "java\\.nio\\.channels\\.\\w+Channel\\.open\\(java\\.net.*"))
                .check(classes);
    }

    /** Arrays and JDK classes that any code could change. */
    @Test
    void static_fields_that_others_see_are_not_mutable() {
        fields().that()
                .areStatic()
                .and()
                .areNotPrivate()
                .and(describe("are written by hand", field -> !field.getName().contains("$")))
                .should()
                .haveRawType(describe(
                        "neither an array nor a mutable collection or number",
                        type -> !type.isArray()
                                && !(type.getPackageName().startsWith("java.util")
                                        && (type.isAssignableTo(AbstractMap.class)
                                                || type.isAssignableTo(AbstractCollection.class)
                                                || type.isAssignableTo(Number.class)
                                                || type.isAssignableTo(AtomicBoolean.class)))))
                .check(classes);
    }

    @Test
    void fields_that_other_packages_see_are_final() {
        fields().that().arePublic().or().areProtected().should().beFinal().check(classes);
    }

    @Test
    void static_fields_are_final() {
        fields().that().areStatic().should().beFinal().check(classes);
    }

    @Test
    void stack_traces_are_printed_only_by_the_command_line() {
        noClasses()
                .that(resideInAPackage(ROOT + "..").and(DescribedPredicate.not(resideInAPackage(ROOT + ".cli.."))))
                .should()
                .callMethod(Throwable.class, "printStackTrace")
                .check(classes);
    }

    @Test
    void method_fits_on_a_screen() throws IOException {
        List<Path> files;
        try (Stream<Path> tree = Files.walk(Path.of("src/main/java"))) {
            files = tree.filter(file -> file.toString().endsWith(".java")).toList();
        }
        assertThat(files)
                .hasSizeGreaterThan(100)
                .allSatisfy(file -> assertThat(longestBlock(Files.readString(file)))
                        .as("lines of the longest method in %s", file)
                        .isLessThanOrEqualTo(METHOD_LINES));
    }

    @Test
    void method_length_includes_the_signature() {
        assertThat(longestBlock("""
                class A {
                    // {
                    int b(
                            int c) {
                        String d = "{\\"";
                        if (c == '{') {
                            c++;
                        }
                        return c;
                    }
                }
                """)).isEqualTo(8);
    }

    /**
     * Returns the number of lines of the longest block in braces that is not a type's body, from its head to its end.
     */
    private static int longestBlock(String source) {
        String code = COMMENT_OR_LITERAL
                .matcher(source)
                .replaceAll(match -> "\n".repeat((int) match.group().lines().count() - 1));
        Deque<Integer> starts = new ArrayDeque<>();
        StringBuilder head = new StringBuilder();
        int headLine = 0;
        int longest = 0;
        int line = 1;
        for (int i = 0; i < code.length(); i++) {
            char c = code.charAt(i);
            if (c == '\n') {
                line++;
            }
            if (c == '{') {
                boolean type = TYPE.matcher(head).find();
                starts.push(type ? Integer.MAX_VALUE : head.isEmpty() ? line : headLine);
            } else if (c == '}') {
                longest = Math.max(longest, line - starts.pop() + 1);
            }
            if (c == '{' || c == '}' || c == ';') {
                head.setLength(0);
            } else if (!head.isEmpty() || !Character.isWhitespace(c)) {
                headLine = head.isEmpty() ? line : headLine;
                head.append(c);
            }
        }
        return longest;
    }
}
