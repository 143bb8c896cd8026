package io.roseinfer.cli.terminal;

import java.io.IOException;
import java.io.InputStream;
import java.lang.classfile.ClassFile;
import java.lang.classfile.ClassTransform;
import java.lang.classfile.MethodTransform;
import java.lang.classfile.attribute.MethodParametersAttribute;
import java.lang.classfile.attribute.SourceFileAttribute;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.util.Arrays;
import java.util.Comparator;
import java.util.HexFormat;
import java.util.List;
import java.util.stream.Stream;

/**
 * The SHA-256 of a class and the classes nested in it, without what compilers add for debuggers: names of files, parameters and variables, and
 * line numbers. So neither comments nor {@code -g} change it.
 */
final class ClassHash {
    /** The options of a class file without debug information, stack maps, which follow from the code, and unused constants. */
    private static final ClassFile FILES = ClassFile.of(
            ClassFile.DebugElementsOption.DROP_DEBUG,
            ClassFile.LineNumbersOption.DROP_LINE_NUMBERS,
            ClassFile.StackMapsOption.DROP_STACK_MAPS,
            ClassFile.DeadCodeOption.KEEP_DEAD_CODE,
            ClassFile.ConstantPoolSharingOption.NEW_POOL);

    private static final ClassTransform WITHOUT_NAMES = ClassTransform.dropping(
                    element -> element instanceof SourceFileAttribute)
            .andThen(ClassTransform.transformingMethods(
                    MethodTransform.dropping(element -> element instanceof MethodParametersAttribute)));

    private ClassHash() {}

    /** Returns the hash in hexadecimal digits, or "unknown" if a class file cannot be read. */
    static String of(Class<?> type) {
        List<Class<?>> classes = Stream.concat(
                        Stream.of(type),
                        Arrays.stream(type.getNestMembers())
                                .filter(member -> member.getName().startsWith(type.getName() + "$"))
                                .sorted(Comparator.comparing(Class::getName)))
                .toList();
        try {
            MessageDigest digest = MessageDigest.getInstance("SHA-256");
            for (Class<?> each : classes) {
                String file = each.getName().replaceFirst(".*\\.", "") + ".class";
                try (InputStream in = each.getResourceAsStream(file)) {
                    if (in == null) {
                        return "unknown";
                    }
                    digest.update(FILES.transformClass(FILES.parse(in.readAllBytes()), WITHOUT_NAMES));
                }
            }
            return HexFormat.of().formatHex(digest.digest());
        } catch (IOException unreadable) {
            return "unknown";
        } catch (NoSuchAlgorithmException e) {
            throw new IllegalStateException("every Java platform has SHA-256", e);
        }
    }
}
