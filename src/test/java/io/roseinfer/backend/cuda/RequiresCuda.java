package io.roseinfer.backend.cuda;

import io.roseinfer.base.RoseException;
import java.lang.annotation.ElementType;
import java.lang.annotation.Retention;
import java.lang.annotation.RetentionPolicy;
import java.lang.annotation.Target;
import java.util.Optional;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.extension.ConditionEvaluationResult;
import org.junit.jupiter.api.extension.ExecutionCondition;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.api.extension.ExtensionContext;

/** Marks tests that need a GPU. Without one they are skipped, unless {@code ROSEINFER_REQUIRE_CUDA=1}. */
@Tag("gpu")
@Target(ElementType.TYPE)
@Retention(RetentionPolicy.RUNTIME)
@ExtendWith(RequiresCuda.Condition.class)
public @interface RequiresCuda {

    /** Checks the backend. */
    final class Condition implements ExecutionCondition {
        @Override
        public ConditionEvaluationResult evaluateExecutionCondition(ExtensionContext context) {
            return decide(CudaBackend.refusal(), "1".equals(System.getenv("ROSEINFER_REQUIRE_CUDA")));
        }

        static ConditionEvaluationResult decide(Optional<? extends RoseException> refusal, boolean required) {
            return refusal.isPresent() && !required
                    ? ConditionEvaluationResult.disabled(
                            "skipped: no CUDA device", refusal.get().getMessage())
                    : ConditionEvaluationResult.enabled("there is a CUDA device, or there must be");
        }
    }
}
