package io.roseinfer;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.io.InputStream;
import java.io.StringWriter;
import java.io.UncheckedIOException;
import java.net.URI;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import javax.tools.Diagnostic;
import javax.tools.DiagnosticCollector;
import javax.tools.JavaCompiler;
import javax.tools.JavaFileObject;
import javax.tools.SimpleJavaFileObject;
import javax.tools.ToolProvider;

/** A copy of some packages to which the edits of a recipe are applied, and which is compiled and loaded. */
public final class RecipeTrial {
    private static final Pattern BLOCK = Pattern.compile("(?s)```java\n(   .*?)\n   ```");

    private final Path folder;
    private final Child classes;
    private final List<JavaFileObject> sources = new ArrayList<>();

    /** Creates an empty copy, whose classes are written to a folder. */
    public RecipeTrial(Path folder) {
        this.folder = folder;
        this.classes = new Child(folder);
    }

    /** Returns the Java on a page of {@code src/site/markdown}, one text for each block. */
    public static List<String> blocks(String page) throws IOException {
        Matcher blocks = BLOCK.matcher(Files.readString(Path.of("src/site/markdown", page)));
        List<String> texts = blocks.results()
                .map(block -> block.group(1).replaceAll("(?m)^   ", ""))
                .toList();
        assertThat(texts).as("Java on the page " + page).isNotEmpty();
        return texts;
    }

    /** Copies every class of a package; none of a package below it. */
    public void addPackage(Path directory) throws IOException {
        try (Stream<Path> files = Files.list(directory)) {
            for (Path file :
                    files.filter(each -> each.toString().endsWith(".java")).toList()) {
                add(file.getFileName().toString(), Files.readString(file));
            }
        }
    }

    /** Adds a class. */
    public void add(String name, String text) {
        sources.add(new SimpleJavaFileObject(URI.create("string:///" + name), JavaFileObject.Kind.SOURCE) {
            @Override
            public CharSequence getCharContent(boolean ignoreEncodingErrors) {
                return text;
            }
        });
    }

    /** Replaces a text that a class has exactly once. */
    public void edit(String name, String from, String to) throws IOException {
        JavaFileObject source = sources.stream()
                .filter(each -> each.getName().endsWith("/" + name))
                .findFirst()
                .orElseThrow();
        String text = source.getCharContent(true).toString();
        assertThat(text).as(name).containsOnlyOnce(from);
        sources.remove(source);
        add(name, text.replace(from, to));
    }

    /** Compiles the copy, and returns its errors: the class and the compiler's key. */
    public List<String> compile() {
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

    /** Reloads all classes of the project, preferring those that were compiled here. */
    private static final class Child extends ClassLoader {
        private final Path folder;

        Child(Path folder) {
            super(RecipeTrial.class.getClassLoader());
            this.folder = folder;
        }

        @Override
        protected Class<?> loadClass(String name, boolean resolve) throws ClassNotFoundException {
            synchronized (getClassLoadingLock(name)) {
                return name.startsWith("io.roseinfer.") && findLoadedClass(name) == null
                        ? findClass(name)
                        : super.loadClass(name, resolve);
            }
        }

        @Override
        protected Class<?> findClass(String name) throws ClassNotFoundException {
            String file = name.replace('.', '/') + ".class";
            try (InputStream code = Files.exists(folder.resolve(file))
                    ? Files.newInputStream(folder.resolve(file))
                    : getParent().getResourceAsStream(file)) {
                if (code == null) {
                    throw new ClassNotFoundException(name);
                }
                byte[] bytes = code.readAllBytes();
                return defineClass(name, bytes, 0, bytes.length);
            } catch (IOException e) {
                throw new UncheckedIOException(e);
            }
        }
    }

    /** Returns a new instance of a compiled class of the copy, which can be cast to JDK types only. */
    public Object make(String className) throws ReflectiveOperationException {
        return classes.loadClass(className).getConstructor().newInstance();
    }
}
