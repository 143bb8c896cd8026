package io.roseinfer.spark;

import java.io.Serializable;
import java.util.Objects;

/**
 * The parameters of generation for the rows of a data frame.
 *
 * @param engine the model and its device
 * @param columns the names of the input and output columns
 * @param maxNewTokens maximum tokens to generate per row
 * @param sampling the sampling parameters
 * @param seed combined with a row's key, the seed of its sampling
 * @param maxInFlight maximum rows of a task in the engine; 0 lets the tasks of an executor share three times the rows
 *     of a decode step, so that the last task can use all of them
 */
public record GenerateSpec(
        EngineSpec engine, Columns columns, int maxNewTokens, Sampling sampling, long seed, int maxInFlight)
        implements Serializable {
    /** Default of the maximum tokens per row. */
    public static final int DEFAULT_NEW_TOKENS = 64;

    /**
     * The columns by name.
     *
     * @param input the prompt: text, or an array of token ids
     * @param output the completion
     * @param error why a row has no output; null if it has
     * @param metrics timings of the row; empty omits the column
     * @param key identifies a row, text or an integer; empty uses the prompt, so that equal prompts have equal seeds
     */
    public record Columns(String input, String output, String error, String metrics, String key)
            implements Serializable {
        public Columns {
            Objects.requireNonNull(input, "input");
            Objects.requireNonNull(output, "output");
            Objects.requireNonNull(error, "error");
            Objects.requireNonNull(metrics, "metrics");
            Objects.requireNonNull(key, "key");
        }

        /** Returns {@code prompt} as input, {@code completion} and {@code error} as output, without metrics and key. */
        public static Columns defaults() {
            return new Columns("prompt", "completion", "error", "", "");
        }

        public Columns withInput(String value) {
            return new Columns(value, output, error, metrics, key);
        }

        public Columns withOutput(String value) {
            return new Columns(input, value, error, metrics, key);
        }

        public Columns withError(String value) {
            return new Columns(input, output, value, metrics, key);
        }

        public Columns withMetrics(String value) {
            return new Columns(input, output, error, value, key);
        }

        public Columns withKey(String value) {
            return new Columns(input, output, error, metrics, value);
        }
    }

    /**
     * The sampling parameters, see {@link io.roseinfer.sampling.SamplingParams}.
     *
     * @param temperature 0 is greedy
     * @param topK keeps the k most likely tokens, 0 keeps all
     * @param topP keeps the smallest set of most likely tokens whose probability reaches p
     */
    public record Sampling(float temperature, int topK, float topP) implements Serializable {
        /** Returns greedy sampling. */
        public static Sampling greedy() {
            return new Sampling(0, 0, 1);
        }

        public Sampling withTemperature(float value) {
            return new Sampling(value, topK, topP);
        }

        public Sampling withTopK(int value) {
            return new Sampling(temperature, value, topP);
        }

        public Sampling withTopP(float value) {
            return new Sampling(temperature, topK, value);
        }
    }

    public GenerateSpec {
        Objects.requireNonNull(engine, "engine");
        Objects.requireNonNull(columns, "columns");
        Objects.requireNonNull(sampling, "sampling");
    }

    /** Returns a spec for greedy completions by a model on the best device. */
    public static GenerateSpec of(String model) {
        return of(EngineSpec.of(model));
    }

    /** Returns a spec for greedy completions. */
    public static GenerateSpec of(EngineSpec engine) {
        return new GenerateSpec(engine, Columns.defaults(), DEFAULT_NEW_TOKENS, Sampling.greedy(), 0, 0);
    }

    public GenerateSpec withEngine(EngineSpec value) {
        return new GenerateSpec(value, columns, maxNewTokens, sampling, seed, maxInFlight);
    }

    public GenerateSpec withColumns(Columns value) {
        return new GenerateSpec(engine, value, maxNewTokens, sampling, seed, maxInFlight);
    }

    public GenerateSpec withMaxNewTokens(int value) {
        return new GenerateSpec(engine, columns, value, sampling, seed, maxInFlight);
    }

    public GenerateSpec withSampling(Sampling value) {
        return new GenerateSpec(engine, columns, maxNewTokens, value, seed, maxInFlight);
    }

    public GenerateSpec withSeed(long value) {
        return new GenerateSpec(engine, columns, maxNewTokens, sampling, value, maxInFlight);
    }

    public GenerateSpec withMaxInFlight(int value) {
        return new GenerateSpec(engine, columns, maxNewTokens, sampling, seed, value);
    }
}
