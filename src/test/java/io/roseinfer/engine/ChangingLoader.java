package io.roseinfer.engine;

import java.io.IOException;
import java.io.InputStream;
import java.lang.classfile.ClassFile;
import java.lang.classfile.ClassFile.ClassHierarchyResolverOption;
import java.lang.classfile.ClassFile.DebugElementsOption;
import java.lang.classfile.ClassHierarchyResolver;
import java.lang.classfile.ClassTransform;
import java.util.List;

/** Loads the project's classes anew, some of them changed; nothing of ours is shared with the classes that run the tests. */
abstract class ChangingLoader extends ClassLoader {
    private static final String OURS = "io.roseinfer.";

    private final String product = root("io/roseinfer/engine/Engine.class");

    ChangingLoader() {
        super(ChangingLoader.class.getClassLoader());
    }

    /** Where a class of ours was built to. */
    private String root(String file) {
        return String.valueOf(getResource(file)).replace(file, "");
    }

    /** Whether a class is the product's, and not one of its tests'. */
    final boolean isProduct(String className) {
        return root(className.replace('.', '/') + ".class").equals(product);
    }

    /** How a class is to be changed, by one transform after the other, each of the class that the one before has made. */
    abstract List<ClassTransform> changes(String className);

    /** A new instance of a class whose callers see only types of the JDK. */
    final <T> T instance(Class<? extends T> unchanged, Class<T> type) {
        try {
            var constructor = loadClass(unchanged.getName()).asSubclass(type).getDeclaredConstructor();
            constructor.setAccessible(true);
            return constructor.newInstance();
        } catch (ReflectiveOperationException e) {
            throw new LinkageError(unchanged.getName(), e);
        }
    }

    @Override
    protected final Class<?> loadClass(String name, boolean resolve) throws ClassNotFoundException {
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
            for (ClassTransform change : changes(name)) {
                bytes = changed(bytes, change);
            }
            return defineClass(name, bytes, 0, bytes.length);
        } catch (IOException e) {
            throw new ClassNotFoundException(name, e);
        }
    }

    private byte[] changed(byte[] bytes, ClassTransform change) {
        // Without names of variables: they would keep the end of a method alive that the changed code does not reach.
        ClassFile classFile = ClassFile.of(
                DebugElementsOption.DROP_DEBUG,
                ClassHierarchyResolverOption.of(ClassHierarchyResolver.ofResourceParsing(getParent())
                        .orElse(ClassHierarchyResolver.defaultResolver())));
        return classFile.transformClass(classFile.parse(bytes), change);
    }
}
