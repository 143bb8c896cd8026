package io.roseinfer.cli.flags;

import io.roseinfer.base.RoseException.BadInput;
import io.roseinfer.base.SpellingSuggestion;
import java.lang.reflect.InvocationTargetException;
import java.nio.file.Path;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.function.Function;
import java.util.function.Supplier;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/**
 * An object of the user's choice, such as a policy, named by a flag: a built-in name, a source file ending in {@code .java}, or a class on the
 * class path. Text after a colon is the constructor's argument: {@code FILE.java:ARGUMENT} or {@code CLASS:ARGUMENT}.
 */
final class ExtensionChoice<T> {
    private static final String NOT_FOUND =
            "; the class was not found, so name its source FILE.java, or add its folder or jar by ROSEINFER_CLASSPATH=FOLDER";
    private static final String SOURCE = ".java";

    private final String flag;
    private final Class<T> type;
    private Map<String, Object> shared = new HashMap<>();
    private final Map<String, Supplier<T>> builtIn = new LinkedHashMap<>();
    private final Map<String, WithArgument<T>> withArgument = new LinkedHashMap<>();

    /**
     * A built-in object with an argument.
     *
     * @param form its name and argument as in the help
     */
    private record WithArgument<T>(String form, Function<String, T> factory) {}

    private ExtensionChoice(String flag, Class<T> type) {
        this.flag = flag;
        this.type = type;
    }

    /** Returns whether a value names a source file, or a class in a package. */
    static boolean isClass(String text) {
        return isSource(text) || text.matches("(\\w+\\.)+[A-Z][\\w$]*(:.*)?");
    }

    /** Returns whether a value names a source file. */
    static boolean isSource(String text) {
        return text.matches(".*\\.java(:.*)?");
    }

    /** Returns whether a value names a class on the class path, perhaps without a package. */
    static boolean isOnClassPath(String text) {
        try {
            Class<?> unused = Class.forName(text.split(":", 2)[0], false, ExtensionChoice.class.getClassLoader());
            return true;
        } catch (ClassNotFoundException | LinkageError e) {
            return false;
        }
    }

    static <T> ExtensionChoice<T> of(String flag, Class<T> type) {
        return new ExtensionChoice<>(flag, type);
    }

    /** Reuses the objects of other flags with the same text, if they have the type; adds its own. */
    ExtensionChoice<T> sharing(Map<String, Object> made) {
        shared = made;
        return this;
    }

    /** Adds a built-in name. */
    ExtensionChoice<T> or(String name, Supplier<T> factory) {
        builtIn.put(name, factory);
        return this;
    }

    /** Adds a built-in name with an argument after a colon, which the help names {@code label}. */
    ExtensionChoice<T> orWithArgument(String name, String label, Function<String, T> factory) {
        withArgument.put(name, new WithArgument<>(name + ":" + label, factory));
        return this;
    }

    /**
     * Creates the object that a flag names.
     *
     * @throws BadInput if there is no such name, file or class, or its constructor fails
     */
    T make(String text) {
        Supplier<T> known = builtIn.get(text);
        if (known != null) {
            return known.get();
        }
        int colon = text.indexOf(':');
        String name = colon < 0 ? text : text.substring(0, colon);
        WithArgument<T> made = colon < 0 ? null : withArgument.get(name);
        if (made != null) {
            return made(made, text, text.substring(colon + 1));
        }
        if (builtIn.containsKey(name)) {
            throw new BadInput(flag + " is '" + text + "', but " + name + " takes no argument; write " + name);
        }
        return shared(text);
    }

    private T made(WithArgument<T> known, String text, String argument) {
        try {
            return known.factory.apply(argument);
        } catch (NumberFormatException e) {
            throw new BadInput(
                    flag + " is '" + text + "', whose argument '" + argument + "' is not the number that " + known.form
                            + " expects",
                    e);
        }
    }

    private T shared(String text) {
        Object known = shared.get(text);
        if (type.isInstance(known)) {
            return type.cast(known);
        }
        T created = byName(text);
        shared.put(text, created);
        return created;
    }

    private T byName(String text) {
        int colon = text.indexOf(':', text.contains(SOURCE + ":") ? text.indexOf(SOURCE + ":") : 0);
        try {
            Class<? extends T> named = named(colon < 0 ? text : text.substring(0, colon));
            if (named.isInterface()) {
                throw new InstantiationException(named.getName());
            }
            return colon < 0
                    ? named.getDeclaredConstructor().newInstance()
                    : named.getDeclaredConstructor(String.class).newInstance(text.substring(colon + 1));
        } catch (InvocationTargetException e) {
            if (colon >= 0 && e.getCause() instanceof NumberFormatException) {
                throw new BadInput(
                        flag + " is '" + text + "', whose argument '" + text.substring(colon + 1)
                                + "' is not the number that its constructor expects",
                        e);
            }
            throw new BadInput(flag + " is '" + text + "', whose constructor failed: " + e.getCause(), e);
        } catch (NoSuchMethodException e) {
            throw new BadInput(
                    flag + " is '" + text + "', whose class has no constructor "
                            + (colon < 0 ? "without parameters; append :ARG" : "with one String; omit the argument"),
                    e);
        } catch (IllegalAccessException e) {
            throw new BadInput(
                    flag + " is '" + text + "', whose class or constructor is not public; declare both public", e);
        } catch (ReflectiveOperationException | LinkageError | ClassCastException e) {
            throw new BadInput(
                    flag + " is '" + text + "'; it must be " + String.join(", ", names())
                            + (builtIn.isEmpty() ? "" : " or ")
                            + "FILE.java, or a public class on the class path, that implements " + names(type)
                            + " and has a public constructor without parameters, or with one String for CLASS:ARGUMENT"
                            + (e instanceof ClassNotFoundException
                                    ? NOT_FOUND + SpellingSuggestion.suggestion(text, builtIn.keySet())
                                    : ""),
                    e);
        }
    }

    /** Returns the built-in names as a user writes them. */
    private List<String> names() {
        return Stream.concat(
                        builtIn.keySet().stream(),
                        withArgument.entrySet().stream()
                                .filter(known -> !builtIn.containsKey(known.getKey()))
                                .map(known -> known.getValue().form))
                .toList();
    }

    /** Returns the name of a type, or the names of the types that a sealed one permits. */
    static String names(Class<?> type) {
        return type.isSealed()
                ? Stream.of(type.getPermittedSubclasses()).map(Class::getName).collect(Collectors.joining(" or "))
                : type.getName();
    }

    private Class<? extends T> named(String name) throws ClassNotFoundException {
        return name.endsWith(SOURCE)
                ? ExtensionSource.load(flag, Path.of(name), type)
                : Class.forName(name).asSubclass(type);
    }
}
