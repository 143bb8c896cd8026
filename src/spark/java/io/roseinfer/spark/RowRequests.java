package io.roseinfer.spark;

import io.roseinfer.base.RoseException.BadInput;
import io.roseinfer.batch.RequestKey;
import io.roseinfer.engine.GenerationRequest;
import io.roseinfer.engine.Prompt;
import io.roseinfer.sampling.SamplingParams;
import java.util.List;
import java.util.stream.Collectors;
import org.apache.spark.sql.Row;
import org.apache.spark.sql.types.StructType;
import org.jspecify.annotations.Nullable;

/**
 * Converts rows to requests. A row's seed is a hash of the spec's seed and the row's key, so it is the same in any
 * partition and any attempt.
 */
final class RowRequests {
    private static final int NO_KEY = -1;

    private final int input;
    private final int key;
    private final int maxNewTokens;
    private final SamplingParams sampling;
    private final long seed;

    RowRequests(StructType schema, GenerateSpec spec) {
        this.input = GenerateSchema.index(schema, "input", spec.columns().input());
        this.key = spec.columns().key().isEmpty()
                ? NO_KEY
                : GenerateSchema.index(schema, "key", spec.columns().key());
        this.maxNewTokens = spec.maxNewTokens();
        this.sampling = GenerateSchema.sampling(spec);
        this.seed = spec.seed();
    }

    /**
     * Returns the request for a row.
     *
     * @throws BadInput if the row has no prompt or no key
     */
    GenerationRequest request(Row row) {
        Prompt prompt = prompt(row);
        return GenerationRequest.of(prompt)
                .withMaxNewTokens(maxNewTokens)
                .withSampling(sampling)
                .withSeed(RequestKey.of(key(row, prompt)).seed(seed));
    }

    private Prompt prompt(Row row) {
        Object value = row.get(input);
        if (value == null) {
            throw new BadInput("the prompt is null; it must have at least one token");
        }
        return value instanceof String text ? new Prompt.Text(text) : new Prompt.Tokens(ids(row.getList(input)));
    }

    private static int[] ids(List<@Nullable Integer> list) {
        int[] ids = new int[list.size()];
        for (int i = 0; i < ids.length; i++) {
            Integer id = list.get(i);
            if (id == null) {
                throw new BadInput("the prompt's token id " + i + " is null; it must be an integer");
            }
            ids[i] = id;
        }
        return ids;
    }

    private String key(Row row, Prompt prompt) {
        if (key == NO_KEY) {
            return prompt instanceof Prompt.Text text
                    ? text.text()
                    : row.<Integer>getList(input).stream().map(String::valueOf).collect(Collectors.joining(","));
        }
        Object value = row.get(key);
        if (value == null) {
            throw new BadInput("the key is null; each row needs a unique key");
        }
        return value.toString();
    }
}
