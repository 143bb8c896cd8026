package io.roseinfer.engine;

import java.lang.classfile.ClassBuilder;
import java.lang.classfile.ClassElement;
import java.lang.classfile.ClassFile;
import java.lang.classfile.ClassTransform;
import java.lang.classfile.CodeBuilder;
import java.lang.classfile.CodeElement;
import java.lang.classfile.CodeModel;
import java.lang.classfile.CodeTransform;
import java.lang.classfile.FieldModel;
import java.lang.classfile.MethodModel;
import java.lang.classfile.Opcode;
import java.lang.classfile.instruction.FieldInstruction;
import java.lang.classfile.instruction.InvokeInstruction;
import java.lang.classfile.instruction.MonitorInstruction;
import java.lang.classfile.instruction.ReturnInstruction;
import java.lang.constant.ClassDesc;
import java.lang.constant.ConstantDescs;
import java.lang.constant.MethodTypeDesc;
import java.lang.reflect.AccessFlag;
import java.util.HashSet;
import java.util.Map;
import java.util.Set;

/**
 * Makes a class call {@link WovenCalls} at every volatile access, lock, atomic, concurrent queue and thread operation.
 */
final class Weaving implements ClassTransform {
    private static final ClassDesc CALLS = ClassDesc.of(WovenCalls.class.getName());
    private static final MethodTypeDesc NOTHING = MethodTypeDesc.of(ConstantDescs.CD_void);
    private static final MethodTypeDesc ON_OBJECT = MethodTypeDesc.of(ConstantDescs.CD_void, ConstantDescs.CD_Object);

    /** Replacements of calls that block or wake threads, by owner and name. */
    private static final Map<String, String> INSTEAD = Map.of(
            "java/lang/Object.wait", "waitFor",
            "java/lang/Object.notify", "notify",
            "java/lang/Object.notifyAll", "notifyAll",
            "java/lang/Thread.start", "start",
            "java/util/concurrent/CountDownLatch.await", "await",
            "java/util/concurrent/locks/LockSupport.park", "park",
            "java/util/concurrent/locks/LockSupport.parkNanos", "parkNanos",
            "java/util/concurrent/locks/LockSupport.unpark", "unpark");

    private final Set<String> volatiles = new HashSet<>();

    private Weaving() {}

    static ClassTransform transform() {
        return ClassTransform.ofStateful(Weaving::new);
    }

    @Override
    public void accept(ClassBuilder builder, ClassElement element) {
        switch (element) {
            case FieldModel field -> {
                if (field.flags().has(AccessFlag.VOLATILE)) {
                    volatiles.add(field.fieldName().stringValue());
                }
                builder.with(field);
            }
            case MethodModel method -> weave(builder, method);
            default -> builder.with(element);
        }
    }

    private void weave(ClassBuilder builder, MethodModel method) {
        boolean locks = method.flags().has(AccessFlag.SYNCHRONIZED);
        int flags = method.flags().flagsMask() & ~ClassFile.ACC_SYNCHRONIZED;
        builder.withMethod(
                method.methodName(),
                method.methodType(),
                flags,
                to -> method.forEach(element -> {
                    switch (element) {
                        case CodeModel code -> {
                            if (locks) {
                                to.withCode(into -> weaveLocking(into, code));
                            } else if (method.methodName().equalsString("<clinit>")) {
                                to.transformCode(code, initializing());
                            } else {
                                to.transformCode(code, codeTransform(false));
                            }
                        }
                        case java.lang.classfile.AccessFlags unused -> {}
                        default -> to.with(element);
                    }
                }));
    }

    /** Adds explicit locking to a synchronized method, with unlocking on every exit. */
    private void weaveLocking(CodeBuilder into, CodeModel code) {
        into.aload(0).invokestatic(CALLS, "enter", ON_OBJECT);
        into.trying(
                body -> body.transform(code, codeTransform(true)),
                handler -> handler.catchingAll(exit ->
                        exit.aload(0).invokestatic(CALLS, "exit", ON_OBJECT).athrow()));
    }

    /** Excludes class initialization, which happens once per process and must not depend on the seed. */
    private static CodeTransform initializing() {
        return CodeTransform.ofStateful(() -> new CodeTransform() {
            @Override
            public void atStart(CodeBuilder code) {
                code.invokestatic(CALLS, "beginInitializing", NOTHING);
            }

            @Override
            public void accept(CodeBuilder code, CodeElement element) {
                if (element instanceof ReturnInstruction) {
                    code.invokestatic(CALLS, "endInitializing", NOTHING);
                }
                code.with(element);
            }
        });
    }

    private CodeTransform codeTransform(boolean unlocks) {
        return (code, element) -> {
            if (unlocks && element instanceof ReturnInstruction) {
                code.aload(0).invokestatic(CALLS, "exit", ON_OBJECT);
            }
            weave(code, element);
        };
    }

    private void weave(CodeBuilder code, CodeElement element) {
        switch (element) {
            case FieldInstruction access -> {
                if (volatiles.contains(access.name().stringValue())) {
                    code.invokestatic(CALLS, "point", NOTHING);
                }
                code.with(access);
            }
            case MonitorInstruction monitor ->
                code.invokestatic(CALLS, monitor.opcode() == Opcode.MONITORENTER ? "enter" : "exit", ON_OBJECT);
            case InvokeInstruction call -> weaveCall(code, call);
            default -> code.with(element);
        }
    }

    private static void weaveCall(CodeBuilder code, InvokeInstruction call) {
        String owner = call.owner().asInternalName();
        String instead = INSTEAD.get(owner + "." + call.name().stringValue());
        if (instead != null) {
            code.invokestatic(CALLS, instead, typeOf(call));
            return;
        }
        if (owner.startsWith("java/util/concurrent/") || owner.equals("java/util/Queue")) {
            code.invokestatic(CALLS, "point", NOTHING);
        }
        code.with(call);
    }

    /** Returns the type of a call, with its receiver, if any, as the first parameter. */
    private static MethodTypeDesc typeOf(InvokeInstruction call) {
        return call.opcode() == Opcode.INVOKESTATIC
                ? call.typeSymbol()
                : call.typeSymbol().insertParameterTypes(0, call.owner().asSymbol());
    }
}
