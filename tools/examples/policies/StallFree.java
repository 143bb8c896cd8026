import io.roseinfer.scheduler.policy.StepBuilder;
import io.roseinfer.scheduler.policy.StepPolicy;

/**
 * Stall-free batching: every step decodes, and chunks of prompts fill it up to a budget of tokens, which bounds how long a
 * step takes. Agrawal et al., Taming Throughput-Latency Tradeoff in LLM Inference with Sarathi-Serve, OSDI 2024. Needs
 * chunked prefill.
 */
public record StallFree(int budget) implements StepPolicy {
    public StallFree(String budget) {
        this(Integer.parseInt(budget));
    }

    @Override
    public void plan(StepBuilder step) {
        step.decode();
        step.prefill(Math.max(1, budget - step.tokens()));
    }
}
