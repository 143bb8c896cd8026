package io.roseinfer.engine;

import java.lang.classfile.ClassTransform;
import java.lang.classfile.CodeTransform;
import java.util.Optional;
import java.util.function.LongFunction;

/** Loads the project's classes anew, one of them with a bug. */
final class PlantingLoader extends ChangingLoader {
    private final Optional<PlantedBug> bug;
    private int planted;

    PlantingLoader(Optional<PlantedBug> bug) {
        this.bug = bug;
    }

    /** The simulation of these classes: a seed gives what went wrong, if anything did. */
    @SuppressWarnings("unchecked")
    LongFunction<Optional<String>> simulation() {
        return instance(SeedRun.class, LongFunction.class);
    }

    /** How many instructions were changed so far. */
    int planted() {
        return planted;
    }

    @Override
    Optional<ClassTransform> change(String className) {
        return bug.filter(wanted -> wanted.className().equals(className)).map(this::plant);
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
                method -> method.methodName().equalsString(wanted.method()), change);
    }
}
