package io.roseinfer.bench.replicas;

import io.roseinfer.base.StrictJson;
import io.roseinfer.bench.load.OfferedLoad;
import io.roseinfer.bench.load.OfferedRequest;
import io.roseinfer.bench.load.Prompts;
import io.roseinfer.engine.EngineOptions;
import io.roseinfer.engine.Prompt;
import io.roseinfer.scheduler.SchedulerOptions;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import tools.jackson.databind.node.ArrayNode;
import tools.jackson.databind.node.ObjectNode;

/**
 * A burst of requests whose number is proportional to the number of replicas.
 *
 * @param name name in the table
 * @param model value of {@code --model}
 * @param requests requests per replica, also the batch size
 * @param promptTokens random ids per prompt; 0 is a short text
 * @param newTokens tokens to generate per request
 * @param kvBlocks KV blocks of 16 tokens per replica
 * @param alwaysCaches whether the prefix cache is on also if the routing policy does not need it
 */
record ScaledLoad(
        String name, String model, int requests, int promptTokens, int newTokens, int kvBlocks, boolean alwaysCaches) {
    /** Upper bound of random ids, below the vocabularies of all models. */
    private static final int IDS = 10_000;

    /** Returns the load of post 044: "Hello [i]" and 256 tokens on GPT-2, 64 requests per replica. */
    static ScaledLoad post044() {
        return new ScaledLoad("post 044", "random:gpt2", 64, 0, 256, 4096, false);
    }

    /** Returns 256 requests of 512 random ids and 256 tokens per replica, on qwen3-0.6b. */
    static ScaledLoad qwen() {
        return new ScaledLoad("qwen3-0.6b", "random:qwen3-0.6b", 256, 512, 256, 16_384, true);
    }

    /** Returns a small load on the simulated device. */
    static ScaledLoad simulated() {
        return new ScaledLoad("simulated", "random:gpt2", 16, 0, 48, 1024, false);
    }

    /** Returns options of an engine for this load and a routing policy. */
    EngineOptions options(boolean usesPrefixes) {
        return EngineOptions.defaults()
                .withScheduler(SchedulerOptions.builder()
                        .maxBatchSize(requests)
                        .prefillMaxBatchSize(requests)
                        .prefixCache(alwaysCaches || usesPrefixes)
                        .build())
                .withKvBlocks(kvBlocks);
    }

    /**
     * Returns the warm-up requests per request of a new client process. A run of post 044 takes a tenth of a second, so with
     * fewer its client would still be compiling.
     */
    int clientWarmUps() {
        return promptTokens == 0 ? 16 : 1;
    }

    /** Returns the requests of a run on this many replicas. Runs with random ids have no common prefix. */
    OfferedLoad offered(int replicas, int run) {
        int count = requests * replicas;
        List<Prompt> prompts = promptTokens == 0
                ? Prompts.texts("Hello", List.of(1), true, count)
                : Prompts.randomTokens(List.of(promptTokens), count, IDS);
        List<OfferedRequest> burst = prompts.stream()
                .map(prompt -> OfferedRequest.of(0, prompt, newTokens))
                .toList();
        return new OfferedLoad(burst, OfferedLoad.Pacing.BURST).withOtherIds(run);
    }

    /** Writes requests as a file for {@code bench serve --dataset jsonl}. */
    static void write(OfferedLoad load, Path file) throws IOException {
        Files.write(file, load.requests().stream().map(ScaledLoad::line).toList());
    }

    private static String line(OfferedRequest request) {
        ObjectNode line = StrictJson.mapper().createObjectNode();
        switch (request.prompt()) {
            case Prompt.Text text -> line.put("prompt", text.text());
            case Prompt.Tokens tokens -> {
                ArrayNode ids = line.putArray("prompt");
                for (int id : tokens.ids()) {
                    ids.add(id);
                }
            }
        }
        return line.put("output_tokens", request.outputTokens()).toString();
    }
}
