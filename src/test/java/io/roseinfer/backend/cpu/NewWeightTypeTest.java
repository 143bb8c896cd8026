package io.roseinfer.backend.cpu;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.io.StringWriter;
import java.net.URI;
import java.net.URL;
import java.net.URLClassLoader;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.function.Supplier;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import javax.tools.Diagnostic;
import javax.tools.DiagnosticCollector;
import javax.tools.JavaCompiler;
import javax.tools.JavaFileObject;
import javax.tools.SimpleJavaFileObject;
import javax.tools.ToolProvider;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Follows {@code adding-a-weight-type.md} with a copy of the backend's sources: the class on the page, the list, the switch. */
class NewWeightTypeTest {
    private static final Path PAGE = Path.of("src/site/markdown/adding-a-weight-type.md");
    private static final Path CPU = Path.of("src/main/java/io/roseinfer/backend/cpu");
    private static final Pattern CLASS = Pattern.compile("(?s)```java\n(   package .*?)\n   ```");

    /** Packs and multiplies in the new type, and loads a model in it. */
    private static final String TRIAL = """
            package io.roseinfer.backend.cpu;

            import io.roseinfer.backend.*;
            import io.roseinfer.backend.cpu.kernel.*;
            import io.roseinfer.backend.cpu.scalar.ScalarKernels;
            import io.roseinfer.model.files.ModelFiles;
            import java.lang.foreign.Arena;
            import java.util.Random;

            public final class Trial implements java.util.function.Supplier<String> {
                public String get() {
                    int inputs = 131;
                    Random random = new Random(5);
                    float[] weights = KernelFixtures.normal(random, inputs * 50);
                    float[] x = KernelFixtures.normal(random, inputs);
                    WeightFormat format = WeightFormat.of(Precision.FP16).orElseThrow();
                    double largest = 0;
                    try (Arena arena = Arena.ofConfined()) {
                        PackedMatrix packed = KernelFixtures.pack(arena, format, weights, inputs, 50);
                        float[] sums = KernelFixtures.product(new ScalarKernels().create(format, 1), x, 1, packed, 1);
                        for (int column = 0; column < 2; column++) {
                            double sum = 0;
                            for (int k = 0; k < inputs; k++) {
                                float weight = weights[k * 50 + 48 + column];
                                sum += (double) x[k] * Float.float16ToFloat(Float.floatToFloat16(weight));
                            }
                            largest = Math.max(largest, Math.abs(sum - sums[column]));
                        }
                    }
                    CpuOptions options = CpuOptions.defaults().withThreads(1).withPrecision(Precision.FP16).withKernels(KernelChoice.SCALAR);
                    try (ModelFiles files = ModelFiles.openBuiltin("tiny");
                            ModelRunner runner = new CpuBackend(options)
                                    .load(files.spec(), files.weights(), new RunnerLimits(1, 1, 16, 8))) {
                        return runner.precision().orElseThrow() + (largest < 1e-4 ? " agrees" : " is off by " + largest);
                    }
                }
            }
            """;

    @TempDir
    private Path folder;

    private final List<JavaFileObject> sources = new ArrayList<>();

    @BeforeEach
    void readSources() throws IOException {
        for (Path part : List.of(CPU, CPU.resolve("kernel"), CPU.resolve("scalar"))) {
            try (Stream<Path> files = Files.list(part)) {
                for (Path file :
                        files.filter(each -> each.toString().endsWith(".java")).toList()) {
                    add(file.getFileName().toString(), Files.readString(file));
                }
            }
        }
        add("VectorKernels.java", Files.readString(CPU.resolve("panama/VectorKernels.java")));
        add(
                "KernelFixtures.java",
                Files.readString(Path.of("src/test/java/io/roseinfer/backend/cpu/KernelFixtures.java")));
        add("Trial.java", TRIAL);
        Matcher page = CLASS.matcher(Files.readString(PAGE));
        assertThat(page.find()).as("a class on the page").isTrue();
        add("Fp16Weights.java", page.group(1).replaceAll("(?m)^   ", ""));
        edit("WeightFormat.java", "Int4Weights {", "Int4Weights, Fp16Weights {");
        edit("WeightFormat.java", "new Int4Weights());", "new Int4Weights(), new Fp16Weights());");
    }

    private void add(String name, String text) {
        sources.add(new SimpleJavaFileObject(URI.create("string:///" + name), JavaFileObject.Kind.SOURCE) {
            @Override
            public CharSequence getCharContent(boolean ignoreEncodingErrors) {
                return text;
            }
        });
    }

    private void edit(String name, String from, String to) throws IOException {
        JavaFileObject source = sources.stream()
                .filter(each -> each.getName().endsWith("/" + name))
                .findFirst()
                .orElseThrow();
        String text = source.getCharContent(true).toString();
        assertThat(text).as(name).containsOnlyOnce(from);
        sources.remove(source);
        add(name, text.replace(from, to));
    }

    private List<String> compile() {
        JavaCompiler compiler = ToolProvider.getSystemJavaCompiler();
        DiagnosticCollector<JavaFileObject> found = new DiagnosticCollector<>();
        String classPath = System.getProperty("surefire.test.class.path", System.getProperty("java.class.path"));
        List<String> options = List.of(
                "-d", folder.toString(), "-cp", classPath, "-proc:none", "--add-modules", "jdk.incubator.vector");
        compiler.getTask(new StringWriter(), null, found, options, null, sources)
                .call();
        return found.getDiagnostics().stream()
                .filter(each -> each.getKind() == Diagnostic.Kind.ERROR)
                .map(each -> each.getSource().getName() + " " + each.getCode())
                .toList();
    }

    /** What was compiled here comes before what the build has compiled. */
    private static final class Child extends URLClassLoader {
        Child(Path folder) throws IOException {
            super(new URL[] {folder.toUri().toURL()}, NewWeightTypeTest.class.getClassLoader());
        }

        @Override
        protected Class<?> loadClass(String name, boolean resolve) throws ClassNotFoundException {
            synchronized (getClassLoadingLock(name)) {
                if (findLoadedClass(name) == null && findResource(name.replace('.', '/') + ".class") != null) {
                    return findClass(name);
                }
                return super.loadClass(name, resolve);
            }
        }
    }

    @Test
    void a_type_that_is_listed_lacks_its_vector_kernels_alone_and_the_compiler_says_so() {
        assertThat(compile()).containsExactly("/VectorKernels.java compiler.err.not.exhaustive");
    }

    @Test
    void a_type_with_its_class_its_place_in_the_list_and_its_case_packs_multiplies_and_holds_a_model()
            throws Exception {
        edit("VectorKernels.java", "case Int4Weights", """
                case Fp16Weights halves -> throw new IllegalStateException("no tiles in this trial");
                            case Int4Weights""");
        edit("VectorKernels.java", "import io.roseinfer.backend.cpu.kernel.Fp32Weights;", """
                import io.roseinfer.backend.cpu.kernel.Fp16Weights;
                import io.roseinfer.backend.cpu.kernel.Fp32Weights;""");
        assertThat(compile()).isEmpty();
        try (Child child = new Child(folder)) {
            Supplier<?> trial = (Supplier<?>) child.loadClass("io.roseinfer.backend.cpu.Trial")
                    .getConstructor()
                    .newInstance();
            assertThat(trial.get()).isEqualTo("FP16 agrees");
        }
    }
}
