package io.roseinfer.backend.cpu.panama;

import io.roseinfer.backend.cpu.kernel.WeightFormat;
import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.MethodType;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import jdk.incubator.vector.FloatVector;
import jdk.incubator.vector.VectorSpecies;
import org.jspecify.annotations.Nullable;

/**
 * Copies of a kernel class, one per vector width, weight format and number of readers ahead, each a hidden class whose
 * {@link #species}, {@link #format} and {@link #readers} are its own constants. The class must have no nested classes and a
 * constructor that takes the context length. Its frames show in stack traces with
 * {@code -XX:+UnlockDiagnosticVMOptions -XX:+ShowHiddenFrames}.
 */
final class Specialization {
    private record Key(Class<?> template, int bits, WeightFormat format, int readers) {}

    private static final Map<Key, MethodHandles.Lookup> COPIES = new ConcurrentHashMap<>();

    private Specialization() {}

    /** A new instance of the copy of {@code template} for vectors of {@code bits} bits, which sees no weights. */
    static <T> T of(Class<T> contract, Class<? extends T> template, int bits, int contextLength) {
        return of(contract, new Key(template, bits, WeightFormat.F32, 0), contextLength);
    }

    /**
     * A new instance of the copy of {@code template} for vectors of {@code bits} bits, weights of one format, and so many tiles that
     * share the reading ahead ({@link NextBlock}; none: 0).
     */
    static <T> T of(Class<T> contract, Class<? extends T> template, int bits, WeightFormat format, int readers) {
        return of(contract, new Key(template, bits, format, readers), 0);
    }

    private static <T> T of(Class<T> contract, Key key, int contextLength) {
        MethodHandles.Lookup copy = COPIES.computeIfAbsent(key, Specialization::define);
        try {
            Object instance = copy.findConstructor(copy.lookupClass(), MethodType.methodType(void.class, int.class))
                    .invoke(contextLength);
            return contract.cast(instance);
        } catch (RuntimeException | Error e) {
            throw e;
        } catch (Throwable e) {
            throw new IllegalStateException("bug in roseinfer: kernel " + key.template + " cannot be made", e);
        }
    }

    /** The species the class behind {@code lookup} was specialised for; the preferred one if it is the template itself. */
    static VectorSpecies<Float> species(MethodHandles.Lookup lookup) {
        Key key = key(lookup);
        return key == null ? FloatVector.SPECIES_PREFERRED : VectorWidth.species(key.bits);
    }

    /** The format the class behind {@code lookup} was specialised for; F32 if it is the template itself. */
    static WeightFormat format(MethodHandles.Lookup lookup) {
        Key key = key(lookup);
        return key == null ? WeightFormat.F32 : key.format;
    }

    /** The tiles that share the reading ahead, of the class behind {@code lookup}; 0 if it is the template itself. */
    static int readers(MethodHandles.Lookup lookup) {
        Key key = key(lookup);
        return key == null ? 0 : key.readers;
    }

    private static @Nullable Key key(MethodHandles.Lookup lookup) {
        try {
            return MethodHandles.classData(lookup, "_", Key.class);
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
            return MethodHandles.lookup().defineHiddenClassWithClassData(in.readAllBytes(), key, true);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        } catch (IllegalAccessException e) {
            throw new IllegalStateException(e);
        }
    }
}
