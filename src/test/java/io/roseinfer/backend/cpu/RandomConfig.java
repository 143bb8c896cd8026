package io.roseinfer.backend.cpu;

import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.stream.Collectors;
import java.util.stream.IntStream;

/** A random {@code config.json} of one family: awkward sizes, every option on or off, in old and new file formats. */
final class RandomConfig {
    static final int MAX_TOKENS = 40;

    private final Random random;
    private final String type;
    private final List<String> members = new ArrayList<>();

    private RandomConfig(String type, Random random) {
        this.type = type;
        this.random = random;
    }

    /** The members of the file's object. */
    static String of(String type, Random random) {
        RandomConfig config = new RandomConfig(type, random);
        config.sizes();
        switch (type) {
            case "gpt_neox" -> config.neox();
            default -> config.gated();
        }
        return String.join(",", config.members);
    }

    private void add(String field, Object value) {
        members.add("\"" + field + "\":" + value);
    }

    private void maybe(String field, Object value) {
        if (random.nextBoolean()) {
            add(field, value);
        }
    }

    private int pick(int... values) {
        return values[random.nextInt(values.length)];
    }

    private void sizes() {
        members.add("\"model_type\":\"" + type + "\"");
        add("vocab_size", 21 + random.nextInt(150));
        add("max_position_embeddings", MAX_TOKENS + random.nextInt(60));
        add("num_hidden_layers", 1 + random.nextInt(4));
        add("intermediate_size", 1 + random.nextInt(150));
        add("tie_word_embeddings", random.nextBoolean());
        add("eos_token_id", "null");
    }

    private void neox() {
        int heads = 1 + random.nextInt(5);
        int size = pick(4, 10, 12, 20, 33, 64);
        add("num_attention_heads", heads);
        add("hidden_size", heads * size);
        add("layer_norm_eps", "1e-" + (2 + random.nextInt(5)));
        maybe("attention_bias", random.nextBoolean());
        maybe("use_parallel_residual", random.nextBoolean());
        double part = new double[] {0.25, 0.5, 0.75}[random.nextInt(3)];
        if (random.nextBoolean()) {
            add("rotary_pct", part);
            add("rotary_emb_base", 100);
        } else {
            add(
                    "rope_parameters",
                    "{\"rope_type\":\"default\",\"rope_theta\":100,\"partial_rotary_factor\":" + part + "}");
        }
    }

    private void gated() {
        int kvHeads = 1 + random.nextInt(3);
        int heads = kvHeads * pick(1, 2, 3, 5, 7);
        int size = pick(2, 6, 10, 12, 16, 34, 64);
        boolean given = random.nextBoolean() || type.equals("qwen3");
        add("num_attention_heads", heads);
        add("num_key_value_heads", kvHeads);
        add("hidden_size", given ? 1 + random.nextInt(90) : heads * size);
        if (given) {
            add("head_dim", size);
        }
        add("rms_norm_eps", "1e-" + (2 + random.nextInt(5)));
        maybe("attention_bias", type.equals("llama") || type.equals("qwen3") || type.equals("smollm3"));
        maybe("mlp_bias", type.equals("llama") || type.equals("smollm3"));
        rotary();
        if (!type.equals("llama")) {
            windows();
        }
    }

    private void rotary() {
        int theta = pick(10, 500, 10_000, 1_000_000);
        String scaling =
                switch (random.nextInt(4)) {
                    case 0 -> "\"linear\",\"factor\":2.5";
                    case 1 ->
                        "\"llama3\",\"factor\":8,\"low_freq_factor\":1,\"high_freq_factor\":4,"
                                + "\"original_max_position_embeddings\":32";
                    case 2 -> "\"yarn\",\"factor\":4,\"original_max_position_embeddings\":16,\"beta_fast\":8";
                    default -> "\"default\"";
                };
        if (random.nextBoolean()) {
            add("rope_theta", theta);
            add("rope_scaling", "{\"type\":" + scaling + "}");
        } else {
            add("rope_parameters", "{\"rope_theta\":" + theta + ",\"rope_type\":" + scaling + "}");
        }
    }

    private void windows() {
        add("sliding_window", random.nextInt(4) == 0 ? "null" : 1 + random.nextInt(20));
        maybe("use_sliding_window", true);
        maybe("max_window_layers", random.nextInt(3));
        if (type.equals("smollm3")) {
            add("no_rope_layer_interval", 1 + random.nextInt(3));
            maybe(
                    "no_rope_layers",
                    IntStream.range(0, 4)
                            .mapToObj(layer -> "" + random.nextInt(2))
                            .collect(Collectors.joining(",", "[", "]")));
        }
    }
}
