package io.roseinfer.engine;

import java.lang.classfile.ClassTransform;
import java.lang.classfile.CodeElement;
import java.lang.classfile.CodeTransform;
import java.lang.classfile.instruction.InvokeDynamicInstruction;
import java.lang.classfile.instruction.InvokeInstruction;
import java.lang.classfile.instruction.NewMultiArrayInstruction;
import java.lang.classfile.instruction.NewObjectInstruction;
import java.lang.classfile.instruction.NewPrimitiveArrayInstruction;
import java.lang.classfile.instruction.NewReferenceArrayInstruction;
import java.lang.constant.ClassDesc;
import java.lang.constant.MethodTypeDesc;
import java.util.Map;
import java.util.Optional;
import java.util.Set;

/**
 * Loads the product's classes anew with a call of {@link AllocationFault} before everything that may allocate: {@code new}, arrays,
 * string concatenation and lambdas, and every call of the JDK that is not known to make do without.
 */
final class AllocationFaultLoader extends ChangingLoader {
    private static final ClassDesc HOOK = ClassDesc.of(AllocationFault.class.getName());

    /** What the endings may rely on. */
    private static final Map<String, Set<String>> FRUGAL = Map.ofEntries(
            Map.entry("java/lang/Object", Set.of("<init>", "wait", "notify", "notifyAll", "getClass")),
            Map.entry("java/lang/Enum", Set.of("compareTo", "ordinal")),
            Map.entry("java/lang/Math", Set.of("min", "max", "ceilDiv", "floorMod")),
            Map.entry("java/lang/System", Set.of("arraycopy", "nanoTime")),
            Map.entry("java/lang/Thread", Set.of("currentThread", "interrupt", "interrupted", "onSpinWait")),
            Map.entry("java/lang/Throwable", Set.of("getMessage")),
            Map.entry("java/lang/Runnable", Set.of("run")),
            Map.entry("java/util/function/Consumer", Set.of("accept")),
            Map.entry("java/util/Queue", Set.of("peek", "poll", "isEmpty")),
            Map.entry("java/util/Objects", Set.of("requireNonNull")),
            Map.entry("java/util/Optional", Set.of("isPresent", "isEmpty", "orElseThrow")),
            Map.entry("java/util/concurrent/TimeUnit", Set.of("convert")),
            Map.entry("java/util/concurrent/CountDownLatch", Set.of("await", "countDown", "getCount")),
            Map.entry("java/util/concurrent/locks/LockSupport", Set.of("park", "parkNanos", "unpark")),
            Map.entry("java/util/concurrent/atomic/AtomicBoolean", Set.of("get", "set", "compareAndSet")),
            Map.entry(
                    "java/util/concurrent/atomic/AtomicInteger",
                    Set.of(
                            "get",
                            "compareAndSet",
                            "getAndIncrement",
                            "incrementAndGet",
                            "decrementAndGet",
                            "addAndGet")),
            Map.entry(
                    "java/util/concurrent/atomic/AtomicLong",
                    Set.of("get", "getAndIncrement", "incrementAndGet", "addAndGet")),
            Map.entry("java/util/concurrent/atomic/AtomicLongArray", Set.of("get", "incrementAndGet")),
            Map.entry("java/lang/invoke/VarHandle", Set.of("getAcquire", "setRelease")),
            Map.entry("java/lang/Integer", Set.of("remainderUnsigned")),
            Map.entry(
                    "java/util/concurrent/atomic/AtomicReference", Set.of("get", "set", "getAndSet", "compareAndSet")));

    private int planted;

    /** How many places may find the heap full. */
    int planted() {
        return planted;
    }

    @Override
    Optional<ClassTransform> change(String className) {
        return isProduct(className)
                ? Optional.of(ClassTransform.transformingMethodBodies(planting()))
                : Optional.empty();
    }

    private CodeTransform planting() {
        return (code, element) -> {
            if (mayAllocate(element)) {
                planted++;
                code.invokestatic(HOOK, "allocating", MethodTypeDesc.ofDescriptor("()V"));
            }
            code.with(element);
        };
    }

    /** Whether an instruction allocates, or calls what is not known to make do without. */
    static boolean mayAllocate(CodeElement element) {
        return switch (element) {
            case NewObjectInstruction object -> true;
            case NewPrimitiveArrayInstruction array -> true;
            case NewReferenceArrayInstruction array -> true;
            case NewMultiArrayInstruction array -> true;
            case InvokeDynamicInstruction made -> true;
            case InvokeInstruction call -> mayAllocate(call);
            default -> false;
        };
    }

    private static boolean mayAllocate(InvokeInstruction call) {
        String owner = call.owner().asInternalName();
        return owner.startsWith("java/")
                && !FRUGAL.getOrDefault(owner, Set.of()).contains(call.name().stringValue());
    }
}
