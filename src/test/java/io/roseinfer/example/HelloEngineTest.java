package io.roseinfer.example;

import static org.assertj.core.api.Assertions.assertThat;

import io.roseinfer.Roseinfer;
import io.roseinfer.engine.Completion;
import io.roseinfer.engine.Engine;
import io.roseinfer.engine.GenerationRequest;
import io.roseinfer.engine.TokenStream;
import io.roseinfer.sampling.SamplingParams;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** The library in twenty lines. */
@Tag("process")
class HelloEngineTest {

    @Test
    void two_requests_share_a_batch_and_stream_their_text() {
        StringBuilder out = new StringBuilder();
        try (Engine engine = Roseinfer.open("builtin:tiny")) {
            TokenStream story =
                    engine.submit(GenerationRequest.of("Once upon a time").withMaxNewTokens(24));
            TokenStream other = engine.submit(GenerationRequest.of("The lighthouse")
                    .withMaxNewTokens(24)
                    .withSampling(SamplingParams.random().withTemperature(0.8f).withTopK(40))
                    .withSeed(7));

            story.forEachRemaining(token -> out.append(token.text()));
            Completion completion = other.completion();

            assertThat(out.toString()).startsWith(", there was a curious young girl");
            assertThat(completion.tokens()).hasSize(24);
            assertThat(completion.text()).isPresent();
        }
    }
}
