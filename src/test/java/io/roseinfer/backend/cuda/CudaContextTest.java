package io.roseinfer.backend.cuda;

import static org.assertj.core.api.Assertions.assertThat;

import io.roseinfer.backend.ModelRunner;
import io.roseinfer.backend.cuda.driver.DeviceContext;
import io.roseinfer.base.Clock;
import io.roseinfer.engine.EngineLimits;
import io.roseinfer.engine.EngineOptions;
import io.roseinfer.engine.OnlineScheduler;
import io.roseinfer.model.files.ModelFiles;
import io.roseinfer.sampling.SamplingParams;
import java.util.ArrayList;
import java.util.List;
import org.bytedeco.cuda.cudart.CUctx_st;
import org.bytedeco.cuda.global.cudart;
import org.junit.jupiter.api.Test;

/** Preservation of the calling thread's CUDA context. */
@RequiresCuda
class CudaContextTest {
    private static final EngineOptions OPTIONS = EngineOptions.defaults().withKvBlocks(64);

    /** Returns the thread's context after loading, before every step and after closing. */
    private static List<Long> contexts() {
        List<Long> seen = new ArrayList<>();
        try (ModelFiles files = ModelFiles.openBuiltin("tiny");
                CudaBackend backend = CudaBackend.open(CudaOptions.defaults(), Clock.system())) {
            ModelRunner runner =
                    backend.load(files.spec(), files.weights(), EngineLimits.runnerLimits(OPTIONS, files.spec()));
            OnlineScheduler scheduler = new OnlineScheduler(runner, OPTIONS.scheduler());
            long id = scheduler.enqueue(new int[] {1, 2, 3}, 5, SamplingParams.greedy(), 0, true);
            while (scheduler.hasUnfinished()) {
                seen.add(DeviceContext.current());
                scheduler.step();
            }
            assertThat(scheduler.generatedIds(id)).hasSize(5);
            runner.close();
            seen.add(DeviceContext.current());
        }
        return seen;
    }

    @Test
    void callers_context_is_restored_after_load_steps_and_close() {
        long before = DeviceContext.current();
        CUctx_st own = new CUctx_st();
        assertThat(cudart.cuCtxCreate(own, null, 0, 0)).isZero();
        try {
            assertThat(contexts()).containsOnly(own.address());
        } finally {
            assertThat(cudart.cuCtxDestroy(own)).isZero();
            DeviceContext.restore(before);
        }
    }

    @Test
    void thread_without_a_context_has_none_after_load_and_close() {
        long before = DeviceContext.current();
        DeviceContext.restore(0);
        try {
            List<Long> seen = contexts();
            assertThat(seen.getFirst()).isZero();
            assertThat(seen.getLast()).isZero();
        } finally {
            DeviceContext.restore(before);
        }
    }
}
