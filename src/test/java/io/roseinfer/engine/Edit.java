package io.roseinfer.engine;

import java.lang.classfile.CodeBuilder;
import java.lang.classfile.CodeElement;
import java.lang.classfile.Opcode;
import java.lang.classfile.TypeKind;
import java.lang.classfile.instruction.BranchInstruction;
import java.lang.classfile.instruction.ConstantInstruction;
import java.lang.classfile.instruction.FieldInstruction;
import java.lang.classfile.instruction.InvokeInstruction;
import java.lang.classfile.instruction.OperatorInstruction;
import java.lang.classfile.instruction.TypeCheckInstruction;
import java.lang.constant.ClassDesc;
import java.lang.constant.ConstantDescs;
import java.lang.constant.MethodTypeDesc;

/** A modification of a method's code. */
@FunctionalInterface
interface Edit {
    /** {@link LiveRequest}. */
    ClassDesc REQUEST = ClassDesc.of("io.roseinfer.engine.LiveRequest");

    /** {@link java.util.Optional}. */
    ClassDesc OPTIONAL = ClassDesc.of("java.util.Optional");

    /** Writes the replacement of an instruction; returns false if the instruction is not the one to replace. */
    boolean replace(CodeBuilder code, CodeElement element);

    /** Returns an edit that applies whichever of both matches. */
    default Edit or(Edit other) {
        return (code, element) -> replace(code, element) || other.replace(code, element);
    }

    /** Removes a call. */
    static Edit withoutCall(String method) {
        return (code, element) -> {
            if (!(element instanceof InvokeInstruction call) || !call.name().equalsString(method)) {
                return false;
            }
            popArguments(code, call);
            return true;
        };
    }

    /** Removes a call and returns {@code answer} to its caller. */
    static Edit withoutCall(String method, int answer) {
        return (code, element) -> {
            boolean found = withoutCall(method).replace(code, element);
            if (found) {
                code.loadConstant(answer);
            }
            return found;
        };
    }

    /** Removes a call of a void method of a class. */
    static Edit withoutCallOf(String owner, String method) {
        return (code, element) -> element instanceof InvokeInstruction call
                && call.owner().asInternalName().endsWith("/" + owner)
                && withoutCall(method).replace(code, element);
    }

    /** Removes a call of a method of a class and returns {@code answer} to its caller. */
    static Edit withoutCallOf(String owner, String method, int answer) {
        return (code, element) -> {
            boolean found = withoutCallOf(owner, method).replace(code, element);
            if (found) {
                code.loadConstant(answer);
            }
            return found;
        };
    }

    /** Removes a call and returns null to its caller. */
    static Edit withNullAsAnswer(String method) {
        return (code, element) -> {
            boolean found = withoutCall(method).replace(code, element);
            if (found) {
                code.aconst_null();
            }
            return found;
        };
    }

    /** Decrements the int that a call returns. */
    static Edit oneLess(String method) {
        return (code, element) -> {
            if (!(element instanceof InvokeInstruction call) || !call.name().equalsString(method)) {
                return false;
            }
            code.with(call).iconst_1().isub();
            return true;
        };
    }

    /** Skips a call with a request and a reason if the request was preempted. */
    static Edit unlessRestarted(String method) {
        return (code, element) -> {
            if (!(element instanceof InvokeInstruction call) || !call.name().equalsString(method)) {
                return false;
            }
            ClassDesc sequence = ClassDesc.of("io.roseinfer.scheduler.Sequence");
            int reason = code.allocateLocal(TypeKind.REFERENCE);
            code.astore(reason)
                    .dup()
                    .invokevirtual(REQUEST, "sequence", MethodTypeDesc.of(OPTIONAL))
                    .invokevirtual(OPTIONAL, "get", MethodTypeDesc.of(ConstantDescs.CD_Object))
                    .checkcast(sequence)
                    .invokevirtual(sequence, "isRestart", MethodTypeDesc.of(ConstantDescs.CD_boolean))
                    .ifThenElse(
                            Opcode.IFNE,
                            CodeBuilder::pop2,
                            goesOn -> goesOn.aload(reason).with(call));
            return true;
        };
    }

    /** Replaces a call without arguments by its receiver. */
    static Edit withReceiverAsAnswer(String method) {
        return (code, element) ->
                element instanceof InvokeInstruction call && call.name().equalsString(method);
    }

    /** Passes null as the last argument of a call. */
    static Edit withNullAsLastArgument(String method) {
        return (code, element) -> {
            if (!(element instanceof InvokeInstruction call) || !call.name().equalsString(method)) {
                return false;
            }
            code.pop().aconst_null().with(call);
            return true;
        };
    }

    /** Keeps the first value assigned to a reference field. */
    static Edit keepingTheFirst(String field) {
        return (code, element) -> {
            if (!(element instanceof FieldInstruction write)
                    || write.opcode() != Opcode.PUTFIELD
                    || !write.name().equalsString(field)) {
                return false;
            }
            ClassDesc owner = write.owner().asSymbol();
            code.swap()
                    .dup()
                    .getfield(owner, field, write.typeSymbol())
                    .ifThenElse(
                            Opcode.IFNULL,
                            isFirst -> isFirst.swap().putfield(owner, field, write.typeSymbol()),
                            CodeBuilder::pop2);
            return true;
        };
    }

    /** Replaces a call by its only argument, an int. */
    static Edit withArgumentAsAnswer(String method) {
        return (code, element) -> {
            if (!(element instanceof InvokeInstruction call) || !call.name().equalsString(method)) {
                return false;
            }
            code.swap().pop();
            return true;
        };
    }

    /** Replaces the copy of a long array by a new array of the same length. */
    static Edit longsNotCopied() {
        return (code, element) -> {
            if (!(element instanceof InvokeInstruction call)
                    || !call.name().equalsString("copyOf")
                    || !call.typeSymbol().returnType().descriptorString().equals("[J")) {
                return false;
            }
            code.swap().pop().newarray(TypeKind.LONG);
            return true;
        };
    }

    /** Replaces the result of a call. */
    static Edit withAnswer(String method, int answer) {
        return (code, element) -> {
            if (!(element instanceof InvokeInstruction call) || !call.name().equalsString(method)) {
                return false;
            }
            code.with(call).pop().loadConstant(answer);
            return true;
        };
    }

    /** Calls another method of the same class and type. */
    static Edit callInstead(String method, String other) {
        return (code, element) -> {
            if (!(element instanceof InvokeInstruction call) || !call.name().equalsString(method)) {
                return false;
            }
            code.invoke(call.opcode(), call.owner().asSymbol(), other, call.typeSymbol(), call.isInterface());
            return true;
        };
    }

    /** Reads a fixed value instead of a field. */
    static Edit readAs(String field, int value) {
        return (code, element) -> {
            if (!isRead(element, field)) {
                return false;
            }
            code.pop().loadConstant(value);
            return true;
        };
    }

    /** Reads another field of the same class and type. */
    static Edit readInstead(String field, String other) {
        return (code, element) -> {
            if (!isRead(element, field) || !(element instanceof FieldInstruction read)) {
                return false;
            }
            ClassDesc owner = read.owner().asSymbol();
            code.getfield(owner, other, read.typeSymbol());
            return true;
        };
    }

    /** Skips writes of a field that is neither a long nor a double. */
    static Edit withoutWrite(String field) {
        return (code, element) -> {
            if (!(element instanceof FieldInstruction write)
                    || write.opcode() != Opcode.PUTFIELD
                    || !write.name().equalsString(field)) {
                return false;
            }
            code.pop2();
            return true;
        };
    }

    /** Replaces an int constant. */
    static Edit constant(int value, int other) {
        return (code, element) -> {
            if (!(element instanceof ConstantInstruction constant)
                    || !constant.constantValue().equals(value)) {
                return false;
            }
            code.loadConstant(other);
            return true;
        };
    }

    /** Removes a cast to a class or interface. */
    static Edit withoutCast(String type) {
        return (code, element) -> element instanceof TypeCheckInstruction cast
                && cast.opcode() == Opcode.CHECKCAST
                && cast.type().asInternalName().endsWith("/" + type);
    }

    /** Reads null instead of a reference field. */
    static Edit readAsNull(String field) {
        return (code, element) -> {
            if (!isRead(element, field)) {
                return false;
            }
            code.pop().aconst_null();
            return true;
        };
    }

    /** Lets the last token published look like the final one as soon as an outcome is written. */
    static Edit lastPublishedOnceThereIsAnEnding() {
        return (code, element) -> {
            if (!isRead(element, "last") || !(element instanceof FieldInstruction read)) {
                return false;
            }
            ClassDesc owner = read.owner().asSymbol();
            code.dup()
                    .getfield(owner, "outcome", ClassDesc.of("io.roseinfer.engine.RequestOutcome"))
                    .ifThenElse(
                            Opcode.IFNONNULL,
                            ends -> ends.getfield(owner, "published", ConstantDescs.CD_int)
                                    .iconst_1()
                                    .isub(),
                            goesOn -> goesOn.pop().iconst_m1());
            return true;
        };
    }

    /** Converts a duration to nanoseconds without clamping. */
    static Edit nanosUnbounded() {
        return (code, element) -> {
            if (!(element instanceof InvokeInstruction call) || !call.name().equalsString("convert")) {
                return false;
            }
            code.swap().pop();
            code.invokevirtual(ClassDesc.of("java.time.Duration"), "toNanos", MethodTypeDesc.of(ConstantDescs.CD_long));
            return true;
        };
    }

    /** Increments an atomic number between reading it and using it. */
    static Edit countedMeanwhile(String method) {
        return (code, element) -> {
            if (!(element instanceof InvokeInstruction call) || !call.name().equalsString(method)) {
                return false;
            }
            ClassDesc atomic = call.owner().asSymbol();
            code.dup()
                    .invokevirtual(atomic, "incrementAndGet", call.typeSymbol())
                    .pop();
            code.invokevirtual(atomic, "decrementAndGet", call.typeSymbol());
            return true;
        };
    }

    /** Replaces a comparison. */
    static Edit compare(Opcode opcode, Opcode other) {
        return (code, element) -> {
            if (!(element instanceof BranchInstruction branch) || branch.opcode() != opcode) {
                return false;
            }
            code.branch(other, branch.target());
            return true;
        };
    }

    /** Replaces a comparison of two longs by a fixed result: 0 if equal, -1 if less, 1 if greater. */
    static Edit longsCompareAs(int result) {
        return (code, element) -> {
            if (!(element instanceof OperatorInstruction operator) || operator.opcode() != Opcode.LCMP) {
                return false;
            }
            code.pop2().pop2().loadConstant(result);
            return true;
        };
    }

    private static boolean isRead(CodeElement element, String field) {
        return element instanceof FieldInstruction access
                && access.opcode() == Opcode.GETFIELD
                && access.name().equalsString(field);
    }

    private static void popArguments(CodeBuilder code, InvokeInstruction call) {
        for (ClassDesc argument : call.typeSymbol().parameterList().reversed()) {
            if (TypeKind.from(argument).slotSize() == 2) {
                code.pop2();
            } else {
                code.pop();
            }
        }
        if (call.opcode() != Opcode.INVOKESTATIC) {
            code.pop();
        }
    }
}
