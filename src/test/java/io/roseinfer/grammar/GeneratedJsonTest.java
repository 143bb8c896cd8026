package io.roseinfer.grammar;

import static org.assertj.core.api.Assertions.assertThat;

import com.networknt.schema.Error;
import com.networknt.schema.Schema;
import com.networknt.schema.SchemaRegistry;
import com.networknt.schema.SpecificationVersion;
import io.roseinfer.backend.sim.SimOptions;
import io.roseinfer.backend.sim.SimRunner;
import io.roseinfer.base.Clock;
import io.roseinfer.base.RoseException.BadInput;
import io.roseinfer.base.StrictJson;
import io.roseinfer.engine.Completion;
import io.roseinfer.engine.Engine;
import io.roseinfer.engine.EngineLimits;
import io.roseinfer.engine.EngineOptions;
import io.roseinfer.engine.GenerationRequest;
import io.roseinfer.engine.TokenStream;
import io.roseinfer.model.files.ModelFiles;
import io.roseinfer.sampling.SamplingParams;
import io.roseinfer.scheduler.FinishReason;
import java.util.List;
import java.util.Optional;
import java.util.stream.LongStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import tools.jackson.databind.DeserializationFeature;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.ObjectReader;

/**
 * Completions of random tokens under random schemas: what ended by itself is valid to another
 * validator, or to {@link SchemaValidator} where that one departs from the standard. A number of
 * schemas can be given with {@code -Droseinfer.iters}, each with 50 seeds then.
 */
@Timeout(value = 3600, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
class GeneratedJsonTest {
    private static final int ITERATIONS = Integer.getInteger("roseinfer.iters", 0);
    private static final int SCHEMAS = Math.max(200, ITERATIONS);
    private static final int SEEDS = ITERATIONS > 0 ? 50 : 4;

    /** Reads numbers with all digits. */
    private static final ObjectReader EXACT =
            StrictJson.mapper().reader().with(DeserializationFeature.USE_BIG_DECIMAL_FOR_FLOATS);

    private final SchemaRegistry validators = SchemaRegistry.withDefaultDialect(SpecificationVersion.DRAFT_2020_12);
    private int stopped;
    private int disputed;

    @Test
    void completions_that_ended_by_themselves_are_valid() {
        EngineOptions options = EngineOptions.defaults().withKvBlocks(4000);
        try (ModelFiles files = ModelFiles.openBuiltin("tiny");
                Engine engine = Engine.open(
                        new SimRunner(
                                files.spec(),
                                EngineLimits.runnerLimits(options, files.spec()),
                                SimOptions.defaults().withMaxInFlight(2)),
                        files.tokenizer(),
                        options,
                        Clock.system())) {
            for (long seed = 1; seed <= SCHEMAS; seed++) {
                JsonNode schema = new RandomSchemas(seed).schema(3);
                grammar(schema).ifPresent(grammar -> check(engine, schema, grammar));
            }
        }
        assertThat(stopped).isGreaterThan(SCHEMAS * SEEDS / 4);
        assertThat(disputed).isLessThan(stopped / 20);
    }

    private static Optional<Grammar> grammar(JsonNode schema) {
        try {
            return Optional.of(Grammar.jsonSchema(schema.toString(), 1));
        } catch (BadInput unsupported) {
            return Optional.empty();
        }
    }

    private void check(Engine engine, JsonNode schema, Grammar grammar) {
        Schema validator = validators.getSchema(schema);
        List<TokenStream> streams = LongStream.range(0, SEEDS)
                .mapToObj(seed -> engine.submit(GenerationRequest.ofTokens(1, 2)
                        .withMaxNewTokens(200)
                        .withSampling(SamplingParams.random())
                        .withSeed(seed)
                        .withGrammar(grammar)))
                .toList();
        for (TokenStream stream : streams) {
            Completion completion = stream.completion();
            if (completion.finishReason() == FinishReason.STOP) {
                stopped++;
                requireValid(completion.text().orElseThrow(), schema, validator);
            }
        }
    }

    private void requireValid(String text, JsonNode schema, Schema validator) {
        JsonNode value = EXACT.readTree(text);
        List<Error> errors = validator.validate(value);
        if (!errors.isEmpty()) {
            // It rounds long integers, compares constants as written, and knows no empty range of contains.
            disputed++;
            assertThat(SchemaValidator.isValid(schema, value))
                    .as("%s for %s: %s", text, schema, errors)
                    .isTrue();
        }
    }
}
