package io.roseinfer.model.family;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * Unread fields of {@code config.json}: reported once if they might matter, and not at all if they are known not to.
 */
class UnreadFieldsTest {
    @Test
    void unknown_fields_are_one_warning() {
        List<String> warnings = Configs.warnings("""
                {"model_type": "llama", "use_qk_norm": true, "residual_multiplier": 0.22, "logits_scaling": null,
                 "rope_scaling": {"rope_type": "linear", "factor": 1, "offset": 3}}""");
        assertThat(warnings)
                .singleElement()
                .asString()
                .contains("m/config.json", "use_qk_norm", "residual_multiplier", "rope_scaling.offset")
                .doesNotContain("logits_scaling", "rope_scaling.factor", "model_type");
    }

    @Test
    void field_of_another_family_is_reported_too() {
        assertThat(Configs.warnings("{\"model_type\": \"gpt2\", \"sliding_window\": 64}"))
                .singleElement()
                .asString()
                .contains("sliding_window");
    }

    /**
     * The fields of published files, as written by versions 4 and 5 of transformers; sizes are omitted if any value
     * works.
     */
    @ParameterizedTest
    @ValueSource(strings = {"""
        {"activation_function": "gelu_new", "architectures": ["GPT2LMHeadModel"], "attn_pdrop": 0.1, "bos_token_id": 50256,
         "embd_pdrop": 0.1, "eos_token_id": 50256, "initializer_range": 0.02, "layer_norm_epsilon": 1e-05, "model_type": "gpt2",
         "n_ctx": 1024, "n_embd": 768, "n_head": 12, "n_layer": 12, "n_positions": 1024, "resid_pdrop": 0.1,
         "summary_activation": null, "summary_first_dropout": 0.1, "summary_proj_to_labels": true,
         "summary_type": "cls_index", "summary_use_proj": true, "vocab_size": 50257,
         "task_specific_params": {"text-generation": {"do_sample": true, "max_length": 50}}}""", """
        {"architectures": ["LlamaForCausalLM"], "attention_bias": false, "attention_dropout": 0.0, "bos_token_id": 0,
         "eos_token_id": 0, "hidden_act": "silu", "hidden_size": 576, "initializer_range": 0.041666666666666664,
         "intermediate_size": 1536, "is_llama_config": true, "max_position_embeddings": 8192, "mlp_bias": false,
         "model_type": "llama", "num_attention_heads": 9, "num_hidden_layers": 30, "num_key_value_heads": 3,
         "pretraining_tp": 1, "rms_norm_eps": 1e-05, "rope_interleaved": false, "rope_scaling": null, "rope_theta": 100000,
         "tie_word_embeddings": true, "torch_dtype": "bfloat16", "transformers_version": "4.40.1", "use_cache": true,
         "vocab_size": 49152, "transformers.js_config": {"kv_cache_dtype": {"q4f16": "float16"}}}""", """
        {"architectures": ["LlamaForCausalLM"], "attention_bias": false, "attention_dropout": 0.0, "bos_token_id": 128000,
         "dtype": "bfloat16", "eos_token_id": [128001, 128008, 128009], "head_dim": 64, "hidden_act": "silu",
         "hidden_size": 2048, "initializer_range": 0.02, "intermediate_size": 8192, "max_position_embeddings": 131072,
         "mlp_bias": false, "model_type": "llama", "num_attention_heads": 32, "num_hidden_layers": 16,
         "num_key_value_heads": 8, "pad_token_id": null, "pretraining_tp": 1, "rms_norm_eps": 1e-05,
         "rope_parameters": {"factor": 32.0, "high_freq_factor": 4.0, "low_freq_factor": 1.0, "rope_theta": 500000.0,
           "original_max_position_embeddings": 8192, "rope_type": "llama3"},
         "tie_word_embeddings": true, "transformers_version": "5.0.0", "use_cache": true, "vocab_size": 128256}""", """
        {"architectures": ["Qwen2ForCausalLM"], "attention_dropout": 0.0, "bos_token_id": 151643, "eos_token_id": 151645,
         "hidden_act": "silu", "hidden_size": 896, "initializer_range": 0.02, "intermediate_size": 4864,
         "max_position_embeddings": 32768, "max_window_layers": 21, "model_type": "qwen2", "num_attention_heads": 14,
         "num_hidden_layers": 24, "num_key_value_heads": 2, "rms_norm_eps": 1e-06, "rope_theta": 1000000.0,
         "sliding_window": 32768, "tie_word_embeddings": true, "torch_dtype": "bfloat16",
         "transformers_version": "4.43.1", "use_cache": true, "use_mrope": false, "use_sliding_window": false,
         "vocab_size": 151936}""", """
        {"architectures": ["Qwen3ForCausalLM"], "attention_bias": false, "attention_dropout": 0.0, "bos_token_id": 151643,
         "eos_token_id": 151645, "head_dim": 128, "hidden_act": "silu", "hidden_size": 1024, "initializer_range": 0.02,
         "intermediate_size": 3072, "max_position_embeddings": 40960, "max_window_layers": 28, "model_type": "qwen3",
         "num_attention_heads": 16, "num_hidden_layers": 28, "num_key_value_heads": 8, "rms_norm_eps": 1e-06,
         "rope_scaling": null, "rope_theta": 1000000, "sliding_window": null, "tie_word_embeddings": true,
         "torch_dtype": "bfloat16", "transformers_version": "4.51.0", "use_cache": true, "use_sliding_window": false,
         "vocab_size": 151936}""", """
        {"architectures": ["MistralForCausalLM"], "attention_dropout": 0.0, "bos_token_id": 1, "eos_token_id": 2,
         "hidden_act": "silu", "hidden_size": 4096, "initializer_range": 0.02, "intermediate_size": 14336,
         "max_position_embeddings": 32768, "model_type": "mistral", "num_attention_heads": 32, "num_hidden_layers": 32,
         "num_key_value_heads": 8, "rms_norm_eps": 1e-05, "rope_theta": 1000000.0, "sliding_window": null,
         "tie_word_embeddings": false, "torch_dtype": "bfloat16", "transformers_version": "4.42.0.dev0",
         "use_cache": true, "vocab_size": 32768}""", """
        {"architectures": ["SmolLM3ForCausalLM"], "attention_bias": false, "attention_dropout": 0.0, "bos_token_id": null,
         "eos_token_id": 128012, "hidden_act": "silu", "hidden_size": 2048, "initializer_range": 0.02,
         "intermediate_size": 11008, "layer_types": ["full_attention", "full_attention"], "max_position_embeddings": 65536,
         "max_window_layers": 28, "mlp_bias": false, "model_type": "smollm3", "no_rope_layer_interval": 4,
         "no_rope_layers": [1, 0], "num_attention_heads": 16, "num_hidden_layers": 2, "num_key_value_heads": 4,
         "pad_token_id": 128004, "pretraining_tp": 2, "rms_norm_eps": 1e-06, "rope_scaling": null, "rope_theta": 5000000.0,
         "sliding_window": null, "torch_dtype": "bfloat16", "transformers_version": "4.54.0.dev0", "use_cache": false,
         "use_sliding_window": false, "vocab_size": 128256}""", """
        {"architectures": ["GPTNeoXForCausalLM"], "bos_token_id": 0, "eos_token_id": 0, "hidden_act": "gelu",
         "hidden_size": 512, "initializer_range": 0.02, "intermediate_size": 2048, "layer_norm_eps": 1e-05,
         "max_position_embeddings": 2048, "model_type": "gpt_neox", "num_attention_heads": 8, "num_hidden_layers": 6,
         "rotary_emb_base": 10000, "rotary_pct": 0.25, "tie_word_embeddings": false, "torch_dtype": "float16",
         "transformers_version": "4.24.0", "use_cache": true, "use_parallel_residual": true, "vocab_size": 50304}""", """
        {"model_type": "gpt_neox", "attention_probs_dropout_prob": 0, "hidden_dropout_prob": 0, "classifier_dropout": 0.1}""", """
        {"model_type": "gpt2", "output_past": true}""", """
        {"model_type": "llama", "activation": "swiglu"}""", """
        {"model_type": "mistral", "max_sequence_length": 131072, "max_position_embeddings": 131072, "rope_scaling":
          {"factor": 16.0, "original_max_position_embeddings": 8192, "type": "yarn", "finetuned": true}}"""})
    void published_files_cause_no_warning(String json) {
        assertThat(Configs.warnings(json)).isEmpty();
    }
}
