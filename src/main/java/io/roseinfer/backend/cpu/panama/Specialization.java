package io.roseinfer.backend.cpu.panama;

import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.MethodType;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;

/**
 * Copies of a kernel class, one per vector width, each a hidden class whose {@link VectorWidth#of} is its own constant. The
 * class must have no nested classes and a constructor that takes the context length. Its frames show in stack traces with
 * {@code -XX:+UnlockDiagnosticVMOptions -XX:+ShowHiddenFrames}.
 */
final class Specialization {
    private record Key(Class<?> template, int bits) {}

    private static final Map<Key, MethodHandles.Lookup> COPIES = new ConcurrentHashMap<>();

    private Specialization() {}

    /** A new instance of the copy of {@code template} for vectors of {@code bits} bits. */
    static <T> T of(Class<T> contract, Class<? extends T> template, int bits, int contextLength) {
        MethodHandles.Lookup copy = COPIES.computeIfAbsent(new Key(template, bits), Specialization::define);
        try {
            Object instance = copy.findConstructor(copy.lookupClass(), MethodType.methodType(void.class, int.class))
                    .invoke(contextLength);
            return contract.cast(instance);
        } catch (RuntimeException | Error e) {
            throw e;
        } catch (Throwable e) {
            throw new IllegalStateException("bug in roseinfer: kernel " + template + " cannot be made", e);
        }
    }

    private static MethodHandles.Lookup define(Key key) {
        String file = key.template.getSimpleName() + ".class";
        try (InputStream in = key.template.getResourceAsStream(file)) {
            if (in == null) {
                throw new IllegalStateException("roseinfer is incomplete: class file " + file + " is missing");
            }
            return MethodHandles.lookup()
                    .defineHiddenClassWithClassData(in.readAllBytes(), VectorWidth.species(key.bits), true);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        } catch (IllegalAccessException e) {
            throw new IllegalStateException(e);
        }
    }
}
