package io.roseinfer.engine;

import java.lang.classfile.ClassTransform;
import java.lang.classfile.CodeTransform;
import java.lang.reflect.Constructor;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Method;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.LongFunction;

/**
 * Loads the project's classes again, one of them with a bug, and all shared state under the {@link Weaver}'s control.
 */
final class PlantingLoader extends ChangingLoader {
    private static final List<String> WOVEN = List.of("engine", "scheduler", "kv", "sampling", "metrics");

    /** Class files without a bug by class name, the same for all loaders. */
    private static final Map<String, byte[]> WITHOUT_BUG = new ConcurrentHashMap<>();

    private final Optional<PlantedBug> bug;
    private int planted;

    PlantingLoader(Optional<PlantedBug> bug) {
        this.bug = bug;
    }

    /** Returns the simulation of these classes, which maps a seed to a failure, if any. */
    @SuppressWarnings("unchecked")
    LongFunction<Optional<String>> simulation() {
        return instance(SeedRun.class, LongFunction.class);
    }

    /**
     * Returns the simulation of the engine's threads of these classes, which maps a seed to a description of the run,
     * or throws.
     */
    @SuppressWarnings("unchecked")
    LongFunction<String> threads() {
        return instance(EngineRun.class, LongFunction.class);
    }

    /**
     * Runs a test of these classes.
     *
     * @param name {@code package.Class#method}, a method without parameters
     * @return the failure; empty if it passes
     */
    Optional<String> test(String name) {
        int hash = name.indexOf('#');
        try {
            Constructor<?> constructor =
                    loadClass("io.roseinfer." + name.substring(0, hash)).getDeclaredConstructor();
            constructor.setAccessible(true);
            Object test = constructor.newInstance();
            Method method = test.getClass().getDeclaredMethod(name.substring(hash + 1));
            method.setAccessible(true);
            method.invoke(test);
            return Optional.empty();
        } catch (InvocationTargetException e) {
            return Optional.of(String.valueOf(e.getCause()));
        } catch (ReflectiveOperationException e) {
            throw new LinkageError(name, e);
        }
    }

    /** Returns the number of instructions modified so far. */
    int planted() {
        return planted;
    }

    @Override
    byte[] bytes(String className) throws ClassNotFoundException {
        if (bug.filter(wanted -> wanted.className().equals(className)).isPresent()) {
            return super.bytes(className);
        }
        byte[] known = WITHOUT_BUG.get(className);
        byte[] bytes = known == null ? super.bytes(className) : known;
        WITHOUT_BUG.put(className, bytes);
        return bytes;
    }

    @Override
    List<ClassTransform> changes(String className) {
        List<ClassTransform> changes = new ArrayList<>();
        bug.filter(wanted -> wanted.className().equals(className))
                .map(this::plant)
                .ifPresent(changes::add);
        if (isWoven(className)) {
            changes.add(Weaving.transform());
        }
        return changes;
    }

    /** Returns whether several threads share a class, or the engine's thread allocates in it. */
    private boolean isWoven(String className) {
        return isProduct(className)
                && WOVEN.stream().anyMatch(name -> className.startsWith("io.roseinfer." + name + "."));
    }

    private ClassTransform plant(PlantedBug wanted) {
        CodeTransform change = (code, element) -> {
            if (wanted.edit().replace(code, element)) {
                planted++;
            } else {
                code.with(element);
            }
        };
        return ClassTransform.transformingMethodBodies(
                method -> method.methodName().stringValue().matches(wanted.method()), change);
    }
}
