package io.roseinfer.engine;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.catchThrowable;

import io.roseinfer.Roseinfer;
import io.roseinfer.Settings;
import io.roseinfer.backend.sim.SimOptions;
import io.roseinfer.base.RoseException.BadInput;
import io.roseinfer.model.files.ModelFiles;
import io.roseinfer.scheduler.FinishReason;
import io.roseinfer.tokenizer.Tokenizer;
import java.lang.reflect.Proxy;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CancellationException;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.Semaphore;
import java.util.concurrent.atomic.AtomicLong;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

@Timeout(value = 60, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
class TokenizeWorkersTest {

    private static Engine engine(int workers) {
        return Roseinfer.open(Settings.of("builtin:tiny")
                .withDevice(Settings.Device.SIM)
                .withEngine(EngineOptions.defaults().withTokenizeWorkers(workers)));
    }

    @Test
    void workers_give_the_same_ids_as_tokenizing_in_submit() {
        List<GenerationRequest> requests = IntStream.range(0, 50)
                .mapToObj(i ->
                        GenerationRequest.of("Once upon a time [" + i + "]").withMaxNewTokens(3))
                .toList();
        try (Engine inPlace = engine(0);
                Engine withWorkers = engine(3)) {
            List<TokenStream> streams =
                    requests.stream().map(withWorkers::submit).toList();
            for (int i = 0; i < requests.size(); i++) {
                Completion expected = inPlace.generate(requests.get(i));
                Completion seen = streams.get(i).completion();
                assertThat(seen.promptIds()).isEqualTo(expected.promptIds());
                assertThat(seen.ids()).isEqualTo(expected.ids());
                assertThat(seen.timeline().tokenizedNanos())
                        .isLessThanOrEqualTo(seen.timeline().admittedNanos());
            }
        }
    }

    /** Returns a tokenizer that never finishes a prompt that begins with "endless", but stops when interrupted. */
    private static Tokenizer blocking(Tokenizer tokenizer, Semaphore begun, CountDownLatch interrupts) {
        return (Tokenizer) Proxy.newProxyInstance(
                Tokenizer.class.getClassLoader(), new Class<?>[] {Tokenizer.class}, (proxy, method, args) -> {
                    if (args != null && args[0].toString().startsWith("endless")) {
                        try {
                            begun.release();
                            new CountDownLatch(1).await();
                        } catch (InterruptedException e) {
                            interrupts.countDown();
                            throw new CancellationException("interrupted");
                        }
                    }
                    return method.invoke(tokenizer, args);
                });
    }

    @Test
    void deadline_ends_a_request_waiting_for_a_tokenizer_and_one_being_tokenized() throws Exception {
        Semaphore begun = new Semaphore(0);
        CountDownLatch interrupts = new CountDownLatch(2);
        EngineOptions options = Models.options().withTokenizeWorkers(1);
        Duration soon = Duration.ofMillis(1);
        AtomicLong now = new AtomicLong();
        try (ModelFiles files = ModelFiles.openBuiltin("tiny");
                Engine engine = Engine.open(
                        Models.runner(options, SimOptions.defaults()),
                        Optional.of(blocking(files.tokenizer().orElseThrow(), begun, interrupts)),
                        options,
                        now::get)) {
            TokenStream blocks = engine.submit(GenerationRequest.of("endless"));
            begun.acquire();
            TokenStream waits = engine.submit(GenerationRequest.of("fine").withTimeout(soon));
            now.addAndGet(soon.toNanos());
            assertThat(waits.completion().finishReason()).isEqualTo(FinishReason.DEADLINE);
            assertThat(engine.stats().waiting()).isEqualTo(1);
            blocks.close();
            TokenStream tokenized =
                    engine.submit(GenerationRequest.of("endless").withTimeout(soon));
            begun.acquire();
            now.addAndGet(soon.toNanos());
            assertThat(tokenized.completion().finishReason()).isEqualTo(FinishReason.DEADLINE);
            interrupts.await();
            assertThat(engine.generate(GenerationRequest.of("fine").withMaxNewTokens(2))
                            .ids())
                    .hasSize(2);
            assertThat(engine.stats().waiting()).isZero();
        }
    }

    @ParameterizedTest
    @ValueSource(booleans = {false, true})
    void close_ends_requests_queued_for_a_tokenizer(boolean interrupted) {
        Engine engine = engine(1);
        String longPrompt = "word ".repeat(400_000);
        List<TokenStream> streams = IntStream.range(0, 30)
                .mapToObj(i -> engine.submit(GenerationRequest.of(i < 20 ? longPrompt : "short " + i)))
                .toList();
        if (interrupted) {
            Thread.currentThread().interrupt();
        }
        engine.close();
        assertThat(Thread.interrupted()).isEqualTo(interrupted);
        assertThat(streams.getLast().completion().finishReason()).isEqualTo(FinishReason.CANCELLED);
        for (TokenStream stream : streams) {
            assertThat(catchThrowable(stream::completion))
                    .satisfiesAnyOf(
                            failure -> assertThat(failure).isNull(),
                            failure -> assertThat(failure).isInstanceOf(BadInput.class));
        }
    }

    @Test
    void prompt_that_cannot_be_tokenized_fails_only_its_stream_and_frees_its_place() {
        try (Engine engine = engine(1)) {
            TokenStream bad = engine.submit(GenerationRequest.of("half a pair: \ud800"));
            assertThatThrownBy(bad::completion).isInstanceOf(BadInput.class);
            TokenStream tooLong = engine.submit(GenerationRequest.of("word ".repeat(2000)));
            assertThatThrownBy(tooLong::completion).isInstanceOf(BadInput.class).hasMessageContaining("context");
            assertThat(engine.generate(GenerationRequest.of("fine").withMaxNewTokens(2))
                            .tokens())
                    .hasSize(2);
        }
    }

    @Test
    void interrupt_of_a_request_does_not_reach_the_next_one() {
        CountDownLatch begun = new CountDownLatch(1);
        CompletableFuture<Boolean> nextIsInterrupted = new CompletableFuture<>();
        LiveRequest first = new LiveRequest(0, Models.request(1, 1), 0, Models.CONTEXT, Optional.empty());
        LiveRequest next = new LiveRequest(1, Models.request(1, 1), 0, Models.CONTEXT, Optional.empty());
        TokenizeWorkers workers = new TokenizeWorkers(1, request -> {
            if (request.equals(next)) {
                nextIsInterrupted.complete(Thread.currentThread().isInterrupted());
                return;
            }
            begun.countDown();
            while (!Thread.currentThread().isInterrupted()) {
                Thread.onSpinWait();
            }
        });
        workers.submit(first);
        workers.submit(next);
        assertThat(begun).satisfies(CountDownLatch::await);
        workers.remove(first);
        assertThat(nextIsInterrupted.join()).isFalse();
        workers.stop(request -> {});
    }
}
