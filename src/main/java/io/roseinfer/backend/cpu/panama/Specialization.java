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
 * Copies of a kernel class, one per {@link TileSpec}, each a hidden class to which its spec is a constant. The class must have no
 * nested classes, and a constructor without parameters or one that takes the context length. Its frames show in stack traces with
 * {@code -XX:+UnlockDiagnosticVMOptions -XX:+ShowHiddenFrames}.
 */
final class Specialization {
    private record Key(Class<?> template, TileSpec spec) {}

    private static final Map<Key, MethodHandles.Lookup> COPIES = new ConcurrentHashMap<>();

    private Specialization() {}

    /**
     * A new instance of the copy of {@code template} for {@code spec}.
     *
     * @param <T> the interface by which the copy is used, which is no {@code template}
     */
    static <T> T of(Class<? extends T> template, TileSpec spec) {
        return of(template, spec, MethodType.methodType(void.class));
    }

    /** The same for a class whose constructor takes the context length. */
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

    /** The species the class behind {@code lookup} was specialised for; the preferred one if it is the template itself. */
    static VectorSpecies<Float> species(MethodHandles.Lookup lookup) {
        return spec(lookup).species();
    }

    /** The spec of the class behind {@code lookup}; {@link TileSpec#PREFERRED} if it is the template itself. */
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
