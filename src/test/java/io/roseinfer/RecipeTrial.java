package io.roseinfer;

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
public final class RecipeTrial implements AutoCloseable {
    private static final Pattern BLOCK = Pattern.compile("(?s)```java\n(   .*?)\n   ```");

    private final Path folder;
    private final Child classes;
    private final List<JavaFileObject> sources = new ArrayList<>();

    /** Creates an empty copy, whose classes are written to a folder. */
    public RecipeTrial(Path folder) throws IOException {
        this.folder = folder;
        this.classes = new Child(folder);
    }

    /** Returns the Java code on a page of {@code src/site/markdown}, one text per block. */
    public static List<String> blocks(String page) throws IOException {
        Matcher blocks = BLOCK.matcher(Files.readString(Path.of("src/site/markdown", page)));
        List<String> texts = blocks.results()
                .map(block -> block.group(1).replaceAll("(?m)^   ", ""))
                .toList();
        assertThat(texts).as("Java on the page " + page).isNotEmpty();
        return texts;
    }

    /** Copies every class of a package, without its subpackages. */
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

    /** Replaces a text that occurs exactly once in a class. */
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

    /** Classes compiled here take precedence over those of the build. */
    private static final class Child extends URLClassLoader {
        Child(Path folder) throws IOException {
            super(new URL[] {folder.toUri().toURL()}, RecipeTrial.class.getClassLoader());
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

    /** Creates an object of a compiled class of the copy, with its constructor without parameters. */
    public Object make(String className) throws ReflectiveOperationException {
        return classes.loadClass(className).getConstructor().newInstance();
    }

    @Override
    public void close() throws IOException {
        classes.close();
    }
}
