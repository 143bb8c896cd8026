package io.roseinfer.engine;

import java.io.IOException;
import java.io.InputStream;
import java.lang.classfile.ClassFile;
import java.lang.classfile.ClassFile.ClassHierarchyResolverOption;
import java.lang.classfile.ClassFile.DebugElementsOption;
import java.lang.classfile.ClassHierarchyResolver;
import java.lang.classfile.ClassTransform;
import java.util.List;

/** Loads the project's classes again, some of them modified, sharing none with the classes that run the tests. */
abstract class ChangingLoader extends ClassLoader {
    private static final String OURS = "io.roseinfer.";

    private final String product = root("io/roseinfer/engine/Engine.class");

    ChangingLoader() {
        super(ChangingLoader.class.getClassLoader());
    }

    /** Returns the directory that a class was built to. */
    private String root(String file) {
        return String.valueOf(getResource(file)).replace(file, "");
    }

    /** Returns whether a class is production code, not a test. */
    final boolean isProduct(String className) {
        return root(className.replace('.', '/') + ".class").equals(product);
    }

    /** Returns the transforms of a class, applied in order. */
    abstract List<ClassTransform> changes(String className);

    /** Creates an instance of a class through an interface of the JDK. */
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
        byte[] bytes = bytes(name);
        return defineClass(name, bytes, 0, bytes.length);
    }

    /** Returns the class file of a class after its changes. */
    byte[] bytes(String name) throws ClassNotFoundException {
        try (InputStream file = getResourceAsStream(name.replace('.', '/') + ".class")) {
            if (file == null) {
                throw new ClassNotFoundException(name);
            }
            byte[] bytes = file.readAllBytes();
            for (ClassTransform change : changes(name)) {
                bytes = changed(bytes, change);
            }
            return bytes;
        } catch (IOException e) {
            throw new ClassNotFoundException(name, e);
        }
    }

    private byte[] changed(byte[] bytes, ClassTransform change) {
        // Without local variable names, which would keep the end of a method alive that the modified code
        // does not reach.
        ClassFile classFile = ClassFile.of(
                DebugElementsOption.DROP_DEBUG,
                ClassHierarchyResolverOption.of(ClassHierarchyResolver.ofResourceParsing(getParent())
                        .orElse(ClassHierarchyResolver.defaultResolver())));
        return classFile.transformClass(classFile.parse(bytes), change);
    }
}
