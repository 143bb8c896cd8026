package io.roseinfer.spark;

import java.io.Serializable;
import java.util.Objects;

/**
 * What to generate for each row of a data frame.
 *
 * @param engine which model, where
 * @param columns the names of the columns that are read and of the new ones
 * @param maxNewTokens most tokens to generate for a row
 * @param sampling how tokens are chosen
 * @param seed with a row's key, the seed of its random draws
 * @param maxInFlight most rows that a task keeps in the engine; 0 has the tasks of an executor share three times the rows of a
 *     decode step, so that the last task can have all of them
 */
public record GenerateSpec(
        EngineSpec engine, Columns columns, int maxNewTokens, Sampling sampling, long seed, int maxInFlight)
        implements Serializable {
    /** Most tokens of a row by default. */
    public static final int DEFAULT_NEW_TOKENS = 64;

    /**
     * The columns by name.
     *
     * @param input the prompt: text, or an array of token ids
     * @param output what was generated
     * @param error why a row has no output; null if it has
     * @param metrics how long it took; empty leaves that column out
     * @param key identifies a row, text or an integer; empty takes the prompt, so that equal prompts draw alike
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

        /** {@code prompt} in, {@code completion} and {@code error} out; no metrics, no key. */
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
     * How tokens are chosen, as {@link io.roseinfer.sampling.SamplingParams} has it.
     *
     * @param temperature 0 is greedy
     * @param topK keeps the k most likely tokens, 0 keeps all
     * @param topP keeps the smallest set of most likely tokens whose probability reaches p
     */
    public record Sampling(float temperature, int topK, float topP) implements Serializable {
        /** Always the most likely token. */
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

    /** Greedy completions by a model on the best device there is. */
    public static GenerateSpec of(String model) {
        return of(EngineSpec.of(model));
    }

    /** Greedy completions. */
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
