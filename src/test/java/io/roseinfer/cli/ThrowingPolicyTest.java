package io.roseinfer.cli;

import static org.assertj.core.api.Assertions.assertThat;

import io.roseinfer.base.RoseException;
import io.roseinfer.base.RoseException.BadInput;
import io.roseinfer.base.RoseException.BadModel;
import io.roseinfer.cli.CliRunner.Outcome;
import io.roseinfer.engine.routing.ReplicaView;
import io.roseinfer.engine.routing.RoutedRequest;
import io.roseinfer.engine.routing.RoutingPolicy;
import io.roseinfer.metrics.StepRecord;
import io.roseinfer.observe.StepEvent;
import io.roseinfer.observe.StepObserver;
import io.roseinfer.scheduler.policy.AdmissionPolicy;
import io.roseinfer.scheduler.policy.CachedBlock;
import io.roseinfer.scheduler.policy.Drafter;
import io.roseinfer.scheduler.policy.EvictionPolicy;
import io.roseinfer.scheduler.policy.PolicyRequest;
import io.roseinfer.scheduler.policy.PreemptionPolicy;
import io.roseinfer.scheduler.policy.QueueView;
import io.roseinfer.scheduler.policy.RunningRequest;
import io.roseinfer.scheduler.policy.StepBuilder;
import io.roseinfer.scheduler.policy.StepPolicy;
import io.roseinfer.scheduler.policy.WaitingRequest;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Tests of throwing custom policies in every command with a policy flag. */
@Tag("process")
class ThrowingPolicyTest {
    public static final class Bad implements AdmissionPolicy {
        @Override
        public int lookahead() {
            return 1;
        }

        @Override
        public long rank(WaitingRequest request, QueueView queue) {
            throw new IllegalStateException("boom");
        }
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "bench --device sim --model random:gpt2 --num-requests 2",
                "bench scheduler --device sim --model random:gpt2 --num-requests 2",
                "bench serve --backend sim --step-costs step:2 --num-prompts 4 --random-input-len 8",
                "bench serve --backend engine --device sim --model random:gpt2 --num-prompts 4 --random-input-len 8",
                "bench serve --backend engine --device sim --model random:gpt2 --num-prompts 4 --random-input-len 8 --replicas 2"
            })
    void throwing_policy_exits_with_7_and_is_named_with_its_line(String command) {
        Outcome outcome = CliRunner.run(Stream.concat(
                        Stream.of(command.split(" ")), Stream.of("--prefill-admission-policy", Bad.class.getName()))
                .toArray(String[]::new));
        assertThat(outcome.code()).as(outcome.err()).isEqualTo(7);
        assertThat(outcome.err())
                .containsPattern("the admission policy \\S+\\$Bad threw java.lang.IllegalStateException: boom"
                        + " at \\S+\\$Bad.rank\\(ThrowingPolicyTest.java:\\d+\\);"
                        + " fix it, or choose another policy\\R$");
        assertThat(outcome.out()).doesNotContain("Throughput", "throughput");
    }

    /** Throws the exceptions of the command line's and the model's own faults. */
    public static final class Blaming implements AdmissionPolicy, RoutingPolicy, StepObserver {
        private final boolean blamesModel;

        public Blaming(String blamed) {
            this.blamesModel = blamed.equals("model");
        }

        private RoseException blame() {
            return blamesModel ? new BadModel("no layers") : new BadInput("--max-new-tokens is odd");
        }

        @Override
        public int lookahead() {
            return 1;
        }

        @Override
        public long rank(WaitingRequest request, QueueView queue) {
            throw blame();
        }

        @Override
        public int choose(RoutedRequest request, List<? extends ReplicaView> replicas) {
            throw blame();
        }

        @Override
        public void on(StepEvent event, StepRecord step) {
            throw blame();
        }
    }

    @ParameterizedTest
    @CsvSource({
        "bench --num-requests 2 --prefill-admission-policy, admission policy, input",
        "bench --num-requests 2 --prefill-admission-policy, admission policy, model",
        "generate --prompt a --replicas 2 --routing, routing policy, input",
        "generate --prompt a --observe, observer, input"
    })
    void bad_input_of_an_extension_is_a_failure_of_that_extension(String flag, String kind, String blamed) {
        String command = flag + " " + Blaming.class.getName() + ":" + blamed + " --device sim --model random:gpt2";
        Outcome outcome = CliRunner.run(command.split(" "));
        assertThat(outcome.err())
                .contains("the " + kind + " " + Blaming.class.getName() + " threw io.roseinfer.base.RoseException$Bad");
        assertThat(outcome.code()).isEqualTo(7);
    }

    private static Outcome simulate(String flag, Class<?> policy) {
        return CliRunner.run(
                "bench",
                "serve",
                "--backend=sim",
                "--step-costs=step:2",
                "--num-prompts=4",
                "--random-input-len=8",
                flag,
                policy.getName());
    }

    public static final class Idle implements StepPolicy {
        @Override
        public void plan(StepBuilder step) {}
    }

    public static final class OnlyPrompts implements StepPolicy {
        @Override
        public void plan(StepBuilder step) {
            step.prefill(1000);
        }
    }

    @ParameterizedTest
    @ValueSource(classes = {Idle.class, OnlyPrompts.class})
    void step_policy_that_leaves_steps_empty_is_named_in_simulated_time(Class<? extends StepPolicy> policy) {
        Outcome outcome = simulate("--step-policy", policy);
        assertThat(outcome.code()).as(outcome.err()).isEqualTo(7);
        assertThat(outcome.err()).contains("the step policy " + policy.getName() + " left 100 steps in a row empty");
    }

    public static final class Blind implements AdmissionPolicy {
        @Override
        public int lookahead() {
            return 0;
        }

        @Override
        public long rank(WaitingRequest request, QueueView queue) {
            return 0;
        }
    }

    @Test
    void policy_that_considers_no_request_is_rejected() {
        Outcome outcome = simulate("--prefill-admission-policy", Blind.class);
        assertThat(outcome.code()).as(outcome.err()).isEqualTo(7);
        assertThat(outcome.err()).contains("$Blind returned a lookahead of 0; it must be at least 1");
    }

    /** Plans default steps and throws after a number of steps. */
    public static final class BadStep implements StepPolicy {
        private final long most;
        private long planned;

        public BadStep(String most) {
            this.most = Long.parseLong(most);
        }

        @Override
        public void plan(StepBuilder step) {
            if (planned == most) {
                throw new IllegalStateException("step " + planned);
            }
            step.decode();
            step.prefill(step.prefillMaxTokens());
            planned++;
        }
    }

    @Test
    void step_policy_plans_every_step_with_its_argument() {
        Outcome outcome = CliRunner.run(
                "bench",
                "--device=sim",
                "--model=random:gpt2",
                "--num-requests=2",
                "--step-policy",
                BadStep.class.getName() + ":5");
        assertThat(outcome.code()).as(outcome.err()).isEqualTo(7);
        assertThat(outcome.err()).contains("the step policy", "BadStep threw java.lang.IllegalStateException: step 5");
    }

    public static final class BadVictim implements PreemptionPolicy {
        @Override
        public RunningRequest victim(RunningRequest one, RunningRequest other, QueueView queue) {
            throw new IllegalStateException("mercy");
        }
    }

    @Test
    void preemption_policy_chooses_the_victim() {
        Outcome outcome = CliRunner.run(
                "bench",
                "serve",
                "--backend=sim",
                "--step-costs=step:2",
                "--num-prompts=8",
                "--random-input-len=8",
                "--random-output-len=64",
                "--kv-blocks=16",
                "--preemption-policy",
                BadVictim.class.getName());
        assertThat(outcome.code()).as(outcome.err()).isEqualTo(7);
        assertThat(outcome.err())
                .contains("the preemption policy", "BadVictim threw java.lang.IllegalStateException: mercy");
    }

    public static final class BadEviction implements EvictionPolicy {
        @Override
        public long rank(CachedBlock block, QueueView queue) {
            throw new IllegalStateException("rank");
        }
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "bench --device sim --model random:gpt2 --num-requests 20",
                "bench serve --backend sim --step-costs step:2 --num-prompts 20 --random-input-len 40 --request-rate 50",
                "bench fleet --step-costs step:2 --engines 2 --num-prompts 20 --random-input-len 40 --request-rate 50"
            })
    void eviction_policy_ranks_cached_blocks(String command) {
        String[] flags = {"--kv-eviction-policy", BadEviction.class.getName()};
        Outcome outcome = CliRunner.run(
                Stream.concat(Stream.of(command.split(" ")), Stream.of(flags)).toArray(String[]::new));
        assertThat(outcome.code()).as(outcome.err()).isEqualTo(7);
        assertThat(outcome.err())
                .contains("the eviction policy", "BadEviction threw java.lang.IllegalStateException: rank");
    }

    @Test
    void eviction_policy_without_a_prefix_cache_is_rejected() {
        Outcome outcome = CliRunner.run(
                "bench",
                "--device=sim",
                "--model=random:gpt2",
                "--no-prefix-cache",
                "--kv-eviction-policy",
                BadEviction.class.getName());
        assertThat(outcome.code()).isEqualTo(2);
        assertThat(outcome.err())
                .contains("has no effect without the prefix cache")
                .hasLineCount(1);
    }

    public static final class BadDrafter implements Drafter {
        @Override
        public int maxTokens() {
            return 2;
        }

        @Override
        public Drafts newDrafts(PolicyRequest request) {
            throw new IllegalStateException("guess");
        }
    }

    @Test
    void drafter_is_asked_for_the_drafts_of_a_request() {
        Outcome outcome = CliRunner.run(
                "bench",
                "--device=sim",
                "--model=random:gpt2",
                "--num-requests=1",
                "--speculate",
                BadDrafter.class.getName());
        assertThat(outcome.code()).as(outcome.err()).isEqualTo(7);
        assertThat(outcome.err()).contains("the drafter ", "BadDrafter threw java.lang.IllegalStateException: guess");
    }

    @ParameterizedTest
    @CsvSource({
        "ngram:0, 1 to 15",
        "ngram:16, 1 to 15",
        "ngram:x, N must be 1 to 15",
        "suffix:0, 1 to 15",
        "suffix:4:all, N must be 1 to 15",
        "eagle, 'must be none, ngram, suffix, synthetic:RATES or'"
    })
    void unknown_drafter_is_rejected_with_the_allowed_values(String value, String message) {
        Outcome outcome =
                CliRunner.run("generate", "--device=sim", "--model=random:gpt2", "--prompt=a", "--speculate", value);
        assertThat(outcome.code()).isEqualTo(2);
        assertThat(outcome.err()).contains(message).hasLineCount(1);
    }
}
