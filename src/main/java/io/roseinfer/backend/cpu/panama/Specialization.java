package io.roseinfer.backend.cpu.panama;

import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.MethodType;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import jdk.incubator.vector.VectorSpecies;

/**
 * Specializes a kernel class: one hidden class per {@link TileSpec}, with the spec as a constant. The class must have no nested classes,
 * and a constructor without parameters or with the context length. Its frames appear in stack traces with
 * {@code -XX:+UnlockDiagnosticVMOptions -XX:+ShowHiddenFrames}.
 */
final class Specialization {
    private record Key(Class<?> template, TileSpec spec) {}

    private static final Map<Key, MethodHandles.Lookup> COPIES = new ConcurrentHashMap<>();

    private Specialization() {}

    /**
     * Returns a new instance of {@code template} specialized for {@code spec}.
     *
     * @param <T> the interface of the copy, not {@code template} itself
     */
    static <T> T of(Class<? extends T> template, TileSpec spec) {
        return of(template, spec, MethodType.methodType(void.class));
    }

    /** Returns an instance of a class whose constructor takes the context length. */
    static <T> T of(Class<? extends T> template, TileSpec spec, int contextLength) {
        return of(template, spec, MethodType.methodType(void.class, int.class), contextLength);
    }

    @SuppressWarnings("unchecked") // the copy implements what its template implements
    private static <T> T of(Class<? extends T> template, TileSpec spec, MethodType constructor, Object... arguments) {
        MethodHandles.Lookup copy = COPIES.computeIfAbsent(new Key(template, spec), Specialization::define);
        try {
            return (T) copy.findConstructor(copy.lookupClass(), constructor).invokeWithArguments(arguments);
        } catch (RuntimeException | Error e) {
            throw e;
        } catch (Throwable e) {
            throw new IllegalStateException("bug in roseinfer: kernel " + template + " cannot be made", e);
        }
    }

    /** Returns the species that the class of {@code lookup} is specialized for; the preferred one for the template itself. */
    static VectorSpecies<Float> species(MethodHandles.Lookup lookup) {
        return spec(lookup).species();
    }

    /** Returns the spec of the class of {@code lookup}; {@link TileSpec#PREFERRED} for the template itself. */
    static TileSpec spec(MethodHandles.Lookup lookup) {
        try {
            TileSpec spec = MethodHandles.classData(lookup, "_", TileSpec.class);
            return spec == null ? TileSpec.PREFERRED : spec;
        } catch (IllegalAccessException e) {
            throw new IllegalStateException(e);
        }
    }

    private static MethodHandles.Lookup define(Key key) {
        String file = key.template.getSimpleName() + ".class";
        try (InputStream in = key.template.getResourceAsStream(file)) {
            if (in == null) {
                throw new IllegalStateException("roseinfer is incomplete: class file " + file + " is missing");
            }
            return MethodHandles.lookup().defineHiddenClassWithClassData(in.readAllBytes(), key.spec, true);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        } catch (IllegalAccessException e) {
            throw new IllegalStateException(e);
        }
    }
}
