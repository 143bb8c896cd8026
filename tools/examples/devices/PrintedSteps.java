import io.roseinfer.backend.Backend;
import io.roseinfer.backend.ModelRunner;
import io.roseinfer.backend.RunnerLimits;
import io.roseinfer.backend.StepInputs;
import io.roseinfer.backend.cpu.CpuBackend;
import io.roseinfer.backend.cpu.CpuOptions;
import io.roseinfer.base.Clock;
import io.roseinfer.model.ModelSpec;
import io.roseinfer.model.Weights;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Proxy;

/** The CPU, which prints the shape of each step to standard error. */
public final class PrintedSteps implements Backend {
    private final Backend cpu = new CpuBackend(CpuOptions.defaults(), Clock.system());

    @Override
    public String name() {
        return "printed-steps";
    }

    @Override
    public String description() {
        return cpu.description();
    }

    @Override
    public int threads() {
        return cpu.threads();
    }

    @Override
    public ModelRunner load(ModelSpec spec, Weights weights, RunnerLimits limits) {
        ModelRunner runner = cpu.load(spec, weights, limits);
        Class<?>[] types = {ModelRunner.class};
        return (ModelRunner) Proxy.newProxyInstance(getClass().getClassLoader(), types, (proxy, method, arguments) -> {
            if (method.getName().startsWith("submit") && !method.getName().equals("submitPass")) {
                StepInputs step = (StepInputs) arguments[0];
                System.err.println(step.rows() + " rows, " + step.tokens() + " tokens, " + step.samples() + " samples");
            }
            try {
                return method.invoke(runner, arguments);
            } catch (InvocationTargetException e) {
                throw e.getCause();
            }
        });
    }

    @Override
    public void close() {
        cpu.close();
    }
}
