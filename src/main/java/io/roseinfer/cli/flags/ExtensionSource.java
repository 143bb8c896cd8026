package io.roseinfer.cli.flags;

import io.roseinfer.base.FileFailure;
import io.roseinfer.base.Quoted;
import io.roseinfer.base.RoseException;
import io.roseinfer.base.RoseException.BadInput;
import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.net.URI;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.ConcurrentHashMap;
import java.util.stream.Collectors;
import javax.tools.Diagnostic;
import javax.tools.DiagnosticCollector;
import javax.tools.FileObject;
import javax.tools.ForwardingJavaFileManager;
import javax.tools.JavaCompiler;
import javax.tools.JavaFileManager;
import javax.tools.JavaFileObject;
import javax.tools.SimpleJavaFileObject;
import javax.tools.ToolProvider;
import org.jspecify.annotations.Nullable;

/**
 * Compiles a source file in memory, against the class path of this process. A file is compiled once per process, so editing it during a
 * comparison does not change its classes. Thread-safe.
 */
final class ExtensionSource {
    private static final Map<Path, Loader> COMPILED = new ConcurrentHashMap<>();

    private ExtensionSource() {}

    /**
     * Returns the only top-level class of a source file that implements a type.
     *
     * @param flag the flag that names the file, for messages
     * @throws BadInput if the file cannot be read or compiled, has no or several such classes, or this runtime has no compiler
     */
    static <T> Class<? extends T> load(String flag, Path file, Class<T> type) throws ClassNotFoundException {
        Loader loader = COMPILED.computeIfAbsent(file.toAbsolutePath().normalize(), path -> compile(flag, file));
        List<Class<? extends T>> found = loader.topLevel().stream()
                .filter(type::isAssignableFrom)
                .<Class<? extends T>>map(each -> each.asSubclass(type))
                .toList();
        if (found.size() != 1) {
            String names = found.stream().map(Class::getName).sorted().collect(Collectors.joining(", "));
            throw refused(
                    flag,
                    file,
                    "declares " + (found.isEmpty() ? "no class" : found.size() + " classes (" + names + ")")
                            + " that implements " + ExtensionChoice.names(type) + "; it must declare one");
        }
        return found.getFirst();
    }

    private static Loader compile(String flag, Path file) {
        JavaCompiler compiler = ToolProvider.getSystemJavaCompiler();
        if (compiler == null) {
            throw refused(
                    flag,
                    file,
                    "cannot be compiled, because this Java runtime has no compiler; run on a JDK, or name a compiled class");
        }
        DiagnosticCollector<JavaFileObject> problems = new DiagnosticCollector<>();
        try (Output output =
                new Output(compiler.getStandardFileManager(problems, Locale.ROOT, StandardCharsets.UTF_8))) {
            // as Maven compiles: javac merges equal lambdas only without -g, and results name a class by its hash
            List<String> options =
                    List.of("-proc:none", "-g", "-parameters", "-classpath", System.getProperty("java.class.path"));
            if (compiler.getTask(null, output, problems, options, null, List.of(new Source(file, read(flag, file))))
                    .call()) {
                return new Loader(output.classes());
            }
        } catch (IOException e) {
            throw refused(flag, file, "cannot be compiled: " + FileFailure.reason(e));
        }
        throw refused(flag, file, "does not compile: " + first(problems));
    }

    private static String read(String flag, Path file) {
        try {
            FileFailure.requireRegular(file);
            return Files.readString(file);
        } catch (RoseException e) {
            throw new BadInput(flag + " is " + e.getMessage(), e);
        } catch (IOException e) {
            throw refused(flag, file, "cannot be read: " + FileFailure.reason(e));
        }
    }

    /** Returns the first error's line and text, and the number of the other errors. */
    private static String first(DiagnosticCollector<JavaFileObject> problems) {
        List<Diagnostic<? extends JavaFileObject>> errors = problems.getDiagnostics().stream()
                .filter(problem -> problem.getKind() == Diagnostic.Kind.ERROR)
                .toList();
        Diagnostic<? extends JavaFileObject> error = errors.getFirst();
        String text = error.getMessage(Locale.ROOT).lines().map(String::strip).collect(Collectors.joining("; "));
        return "line " + error.getLineNumber() + ": " + Quoted.escape(text)
                + (errors.size() == 1 ? "" : " (and " + (errors.size() - 1) + " more)");
    }

    private static BadInput refused(String flag, Path file, String problem) {
        return new BadInput(flag + " is " + FileFailure.shown(file) + ", which " + problem);
    }

    /** A compilation unit whose text is in memory. */
    private static final class Source extends SimpleJavaFileObject {
        private final String text;

        Source(Path file, String text) {
            super(file.toUri(), Kind.SOURCE);
            this.text = text;
        }

        @Override
        public CharSequence getCharContent(boolean ignoreEncodingErrors) {
            return text;
        }
    }

    /** Keeps compiled classes in memory. */
    private static final class Output extends ForwardingJavaFileManager<JavaFileManager> {
        private final Map<String, ByteArrayOutputStream> compiled = new LinkedHashMap<>();

        Output(JavaFileManager files) {
            super(files);
        }

        Map<String, byte[]> classes() {
            Map<String, byte[]> classes = new LinkedHashMap<>();
            compiled.forEach((name, bytes) -> classes.put(name, bytes.toByteArray()));
            return classes;
        }

        @Override
        public JavaFileObject getJavaFileForOutput(
                Location location, String className, JavaFileObject.Kind kind, FileObject sibling) {
            return new SimpleJavaFileObject(
                    URI.create("memory:///" + className.replace('.', '/') + kind.extension), kind) {
                @Override
                public OutputStream openOutputStream() {
                    return compiled.computeIfAbsent(className, unused -> new ByteArrayOutputStream());
                }
            };
        }
    }

    /** Defines the classes of one file, also if the class path has classes of their names. */
    private static final class Loader extends ClassLoader {
        private final Map<String, byte[]> classes;

        Loader(Map<String, byte[]> classes) {
            super(ExtensionSource.class.getClassLoader());
            this.classes = classes;
        }

        List<Class<?>> topLevel() throws ClassNotFoundException {
            List<Class<?>> found = new ArrayList<>();
            for (String name : classes.keySet()) {
                Class<?> each = loadClass(name);
                if (each.getEnclosingClass() == null) {
                    found.add(each);
                }
            }
            return found;
        }

        /** Returns a class file, so that results can contain its hash. */
        @Override
        public @Nullable InputStream getResourceAsStream(String name) {
            byte[] bytes = classes.get(name.replaceFirst("\\.class$", "").replace('/', '.'));
            return bytes == null ? super.getResourceAsStream(name) : new ByteArrayInputStream(bytes);
        }

        @Override
        protected Class<?> loadClass(String name, boolean resolve) throws ClassNotFoundException {
            synchronized (getClassLoadingLock(name)) {
                Class<?> loaded = findLoadedClass(name);
                return loaded == null && classes.containsKey(name) ? findClass(name) : super.loadClass(name, resolve);
            }
        }

        @Override
        protected Class<?> findClass(String name) throws ClassNotFoundException {
            byte[] bytes = Optional.ofNullable(classes.get(name)).orElseThrow(() -> new ClassNotFoundException(name));
            return defineClass(name, bytes, 0, bytes.length);
        }
    }
}
