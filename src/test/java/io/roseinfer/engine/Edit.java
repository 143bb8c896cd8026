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

/** One change of a method's code. */
@FunctionalInterface
interface Edit {
    /** {@link LiveRequest}. */
    ClassDesc REQUEST = ClassDesc.of("io.roseinfer.engine.LiveRequest");

    /** {@link java.util.Optional}. */
    ClassDesc OPTIONAL = ClassDesc.of("java.util.Optional");

    /** Writes something else in an instruction's place, or nothing and answers false if it is not the one that is meant. */
    boolean replace(CodeBuilder code, CodeElement element);

    /** Either change, in the place of each. */
    default Edit or(Edit other) {
        return (code, element) -> replace(code, element) || other.replace(code, element);
    }

    /** The call does not happen. */
    static Edit withoutCall(String method) {
        return (code, element) -> {
            if (!(element instanceof InvokeInstruction call) || !call.name().equalsString(method)) {
                return false;
            }
            popArguments(code, call);
            return true;
        };
    }

    /** The call does not happen; its caller sees this answer. */
    static Edit withoutCall(String method, int answer) {
        return (code, element) -> {
            boolean found = withoutCall(method).replace(code, element);
            if (found) {
                code.loadConstant(answer);
            }
            return found;
        };
    }

    /** The call of a method of that class does not happen; it has no answer. */
    static Edit withoutCallOf(String owner, String method) {
        return (code, element) -> element instanceof InvokeInstruction call
                && call.owner().asInternalName().endsWith("/" + owner)
                && withoutCall(method).replace(code, element);
    }

    /** The call of a method of that class does not happen; its caller sees this answer. */
    static Edit withoutCallOf(String owner, String method, int answer) {
        return (code, element) -> {
            boolean found = withoutCallOf(owner, method).replace(code, element);
            if (found) {
                code.loadConstant(answer);
            }
            return found;
        };
    }

    /** The call does not happen; its caller sees null as the answer. */
    static Edit withNullAsAnswer(String method) {
        return (code, element) -> {
            boolean found = withoutCall(method).replace(code, element);
            if (found) {
                code.aconst_null();
            }
            return found;
        };
    }

    /** The call happens, and its caller sees an int that is one less. */
    static Edit oneLess(String method) {
        return (code, element) -> {
            if (!(element instanceof InvokeInstruction call) || !call.name().equalsString(method)) {
                return false;
            }
            code.with(call).iconst_1().isub();
            return true;
        };
    }

    /** A call with a request and a reason happens unless the request has started over. */
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

    /** The call, which has no arguments, does not happen; its caller sees the object that it is made on as the answer. */
    static Edit withReceiverAsAnswer(String method) {
        return (code, element) ->
                element instanceof InvokeInstruction call && call.name().equalsString(method);
    }

    /** The call is made with null as its last argument, an object. */
    static Edit withNullAsLastArgument(String method) {
        return (code, element) -> {
            if (!(element instanceof InvokeInstruction call) || !call.name().equalsString(method)) {
                return false;
            }
            code.pop().aconst_null().with(call);
            return true;
        };
    }

    /** A field of type reference keeps the first value that it is given. */
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

    /** The call does not happen; its caller sees its only argument, an int, as the answer. */
    static Edit withArgumentAsAnswer(String method) {
        return (code, element) -> {
            if (!(element instanceof InvokeInstruction call) || !call.name().equalsString(method)) {
                return false;
            }
            code.swap().pop();
            return true;
        };
    }

    /** An array of longs is not copied; there is a new one of the copy's length. */
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

    /** The call happens, but its caller sees this answer instead. */
    static Edit withAnswer(String method, int answer) {
        return (code, element) -> {
            if (!(element instanceof InvokeInstruction call) || !call.name().equalsString(method)) {
                return false;
            }
            code.with(call).pop().loadConstant(answer);
            return true;
        };
    }

    /** Another method of the same class and type is called. */
    static Edit callInstead(String method, String other) {
        return (code, element) -> {
            if (!(element instanceof InvokeInstruction call) || !call.name().equalsString(method)) {
                return false;
            }
            code.invoke(call.opcode(), call.owner().asSymbol(), other, call.typeSymbol(), call.isInterface());
            return true;
        };
    }

    /** A field is read as if it had this value. */
    static Edit readAs(String field, int value) {
        return (code, element) -> {
            if (!isRead(element, field)) {
                return false;
            }
            code.pop().loadConstant(value);
            return true;
        };
    }

    /** Another field of the same class and type is read. */
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

    /** A field is not written; it is neither a long nor a double. */
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

    /** An int constant has another value. */
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

    /** A cast to a class or interface does not happen. */
    static Edit withoutCast(String type) {
        return (code, element) -> element instanceof TypeCheckInstruction cast
                && cast.opcode() == Opcode.CHECKCAST
                && cast.type().asInternalName().endsWith("/" + type);
    }

    /** A field of type reference is read as if it held nothing. */
    static Edit readAsNull(String field) {
        return (code, element) -> {
            if (!isRead(element, field)) {
                return false;
            }
            code.pop().aconst_null();
            return true;
        };
    }

    /** The last token there is looks like the last there will be as soon as an ending is written. */
    static Edit lastPublishedOnceThereIsAnEnding() {
        return (code, element) -> {
            if (!isRead(element, "last") || !(element instanceof FieldInstruction read)) {
                return false;
            }
            ClassDesc owner = read.owner().asSymbol();
            code.dup()
                    .getfield(owner, "ending", ClassDesc.of("io.roseinfer.engine.Ending"))
                    .ifThenElse(
                            Opcode.IFNONNULL,
                            ends -> ends.getfield(owner, "published", ConstantDescs.CD_int)
                                    .iconst_1()
                                    .isub(),
                            goesOn -> goesOn.pop().iconst_m1());
            return true;
        };
    }

    /** A duration is converted to nanoseconds by who knows no bounds. */
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

    /** An atomic number is read, and is one more meanwhile. */
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

    /** A comparison is another one. */
    static Edit compare(Opcode opcode, Opcode other) {
        return (code, element) -> {
            if (!(element instanceof BranchInstruction branch) || branch.opcode() != opcode) {
                return false;
            }
            code.branch(other, branch.target());
            return true;
        };
    }

    /** A comparison of two longs has this result, whatever they are: 0 if equal, -1 if the first is less, 1 if it is greater. */
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
