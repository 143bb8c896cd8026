package io.roseinfer.bench.load;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.within;

import io.roseinfer.base.RoseException.BadInput;
import io.roseinfer.bench.load.OfferedRequest.Traits;
import io.roseinfer.engine.Prompt;
import java.util.Arrays;
import java.util.List;
import java.util.OptionalInt;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class TenantTest {
    private static final RandomPrompts PROMPTS = new RandomPrompts(100, 40, 0, 0, 256, 7);

    private static Tenant tenant(String text) {
        return Tenant.parse("--tenant", text);
    }

    @Test
    void every_key_is_read() {
        assertThat(tenant("a:share=8,input=64,output=512,slo=chat,priority=-1,deadline_ms=2.5"))
                .isEqualTo(new Tenant(
                        8,
                        OptionalInt.of(64),
                        OptionalInt.of(512),
                        Traits.NONE
                                .withTenant("a")
                                .withSlo("chat")
                                .withPriority(-1)
                                .withDeadlineMillis(2.5)));
        assertThat(tenant("a").share()).isEqualTo(1);
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            quoteCharacter = '`',
            value = {
                "a b:share=1 | it must be NAME:KEY=VALUE",
                "a:share=0 | share is '0'; it must be a positive number",
                "a:share=inf | share is 'inf'",
                "a:input=1.5 | input is '1.5'",
                "a:priority=x | priority is 'x'; it must be a whole number",
                "a:rate=3 | 'rate=3' is not one of deadline_ms, input",
                "a:share=1,share=2 | 'share=2' is not one of",
                "a: | '' is not one of",
                "a:slo=x y | it must be NAME:KEY=VALUE"
            })
    void wrong_text_is_rejected(String text, String message) {
        assertThatThrownBy(() -> tenant(text)).isInstanceOf(BadInput.class).hasMessageContaining(message);
    }

    @Test
    void requests_are_divided_by_share_and_have_the_lengths_of_their_tenant() {
        List<OfferedRequest> requests =
                PROMPTS.requests(10_000, List.of(tenant("light:share=1"), tenant("flood:share=3,input=10,output=5")));
        long flood = requests.stream()
                .filter(request -> request.traits().tenant().orElseThrow().equals("flood"))
                .count();
        // Five standard deviations of a binomial number.
        assertThat(flood / 10_000.0).isCloseTo(0.75, within(5 * Math.sqrt(0.75 * 0.25 / 10_000)));
        assertThat(requests).allSatisfy(request -> {
            boolean isFlood = request.traits().tenant().orElseThrow().equals("flood");
            assertThat(request.promptTokens()).isEqualTo(isFlood ? 10 : 100);
            assertThat(request.outputTokens()).isEqualTo(isFlood ? 5 : 40);
        });
    }

    @Test
    void tenants_leave_prompts_and_lengths_of_others_unchanged() {
        List<OfferedRequest> with = PROMPTS.requests(20, List.of(tenant("a")));
        assertThat(with.stream().map(request -> request.withTraits(Traits.NONE)))
                .isEqualTo(PROMPTS.requests(20));
        assertThat(Tenant.assign(List.of(tenant("a")), PROMPTS.requests(20), 7)).isEqualTo(with);
        assertThat(Tenant.assign(List.of(), PROMPTS.requests(20), 7)).isEqualTo(PROMPTS.requests(20));
    }

    @Test
    void tenants_of_a_dataset_are_not_replaced() {
        List<OfferedRequest> requests =
                List.of(OfferedRequest.of(0, new Prompt.Tokens(1), 1).withTraits(Traits.NONE.withTenant("b")));
        assertThatThrownBy(() -> Tenant.assign(List.of(tenant("a")), requests, 0))
                .isInstanceOf(BadInput.class)
                .hasMessageContaining("tenants in the dataset");
        assertThatThrownBy(() -> Tenant.assign(List.of(tenant("a:input=3")), PROMPTS.requests(1), 0))
                .isInstanceOf(BadInput.class)
                .hasMessageContaining("--dataset random");
    }

    @Test
    void prediction_has_a_log_normal_error() {
        List<OfferedRequest> requests = PROMPTS.requests(10_000).stream()
                .map(request -> request.withTraits(Traits.NONE.withMaxTokens(100_000)))
                .toList();
        assertThat(RandomPrompts.predicted(requests, 0, 3))
                .allMatch(request -> request.traits().predictedTokens().orElseThrow() == 40);
        double[] logs = RandomPrompts.predicted(requests, 0.5, 3).stream()
                .mapToDouble(
                        request -> Math.log(request.traits().predictedTokens().orElseThrow() / 40.0))
                .toArray();
        double mean = Arrays.stream(logs).average().orElseThrow();
        double variance = Arrays.stream(logs).map(x -> x * x).average().orElseThrow();
        assertThat(mean).isCloseTo(0, within(0.025));
        assertThat(Math.sqrt(variance)).isCloseTo(0.5, within(0.025));
    }
}
