package io.roseinfer.engine;

import java.io.IOException;
import java.io.InputStream;
import java.lang.classfile.ClassFile;
import java.lang.classfile.ClassFile.ClassHierarchyResolverOption;
import java.lang.classfile.ClassHierarchyResolver;
import java.lang.classfile.ClassModel;
import java.lang.classfile.ClassTransform;
import java.lang.classfile.CodeTransform;
import java.util.Optional;
import java.util.function.LongFunction;

/** Loads the project's classes anew, one of them with a bug; nothing of ours is shared with the classes that run the tests. */
final class PlantingLoader extends ClassLoader {
    private static final String OURS = "io.roseinfer.";

    private final Optional<PlantedBug> bug;
    private int planted;

    PlantingLoader(Optional<PlantedBug> bug) {
        super(PlantingLoader.class.getClassLoader());
        this.bug = bug;
    }

    /** The simulation of these classes: a seed gives what went wrong, if anything did. */
    @SuppressWarnings("unchecked")
    LongFunction<Optional<String>> simulation() {
        try {
            var constructor = loadClass(SeedRun.class.getName())
                    .asSubclass(LongFunction.class)
                    .getDeclaredConstructor();
            constructor.setAccessible(true);
            return constructor.newInstance();
        } catch (ReflectiveOperationException e) {
            throw new LinkageError("the simulation", e);
        }
    }

    /** How many instructions were changed so far. */
    int planted() {
        return planted;
    }

    @Override
    protected Class<?> loadClass(String name, boolean resolve) throws ClassNotFoundException {
        synchronized (getClassLoadingLock(name)) {
            Class<?> loaded = findLoadedClass(name);
            if (loaded != null) {
                return loaded;
            }
            return name.startsWith(OURS) ? define(name) : super.loadClass(name, resolve);
        }
    }

    private Class<?> define(String name) throws ClassNotFoundException {
        try (InputStream file = getResourceAsStream(name.replace('.', '/') + ".class")) {
            if (file == null) {
                throw new ClassNotFoundException(name);
            }
            byte[] bytes = file.readAllBytes();
            if (bug.isPresent() && bug.get().className().equals(name)) {
                bytes = plant(bug.get(), bytes);
            }
            return defineClass(name, bytes, 0, bytes.length);
        } catch (IOException e) {
            throw new ClassNotFoundException(name, e);
        }
    }

    private byte[] plant(PlantedBug wanted, byte[] bytes) {
        ClassFile classFile =
                ClassFile.of(ClassHierarchyResolverOption.of(ClassHierarchyResolver.ofResourceParsing(getParent())
                        .orElse(ClassHierarchyResolver.defaultResolver())));
        ClassModel model = classFile.parse(bytes);
        CodeTransform change = (code, element) -> {
            if (wanted.edit().replace(code, element)) {
                planted++;
            } else {
                code.with(element);
            }
        };
        return classFile.transformClass(
                model,
                ClassTransform.transformingMethodBodies(
                        method -> method.methodName().equalsString(wanted.method()), change));
    }
}
