package io.roseinfer.model.family;

import java.util.Set;

/**
 * Fields that {@code config.json} may have in every family and that do not change the logits. {@code PreTrainedConfig}
 * of transformers 4 and 5 writes them for training, for loading and for {@code generate}, whose defaults come from
 * {@code generation_config.json} alone.
 */
final class ConfigFields {
    private static final Set<String> LOADING = Set.of(
            "auto_map",
            "dtype",
            "model_type",
            "tokenizer_class",
            "torch_dtype",
            "torchscript",
            "transformers_version",
            "transformers.js_config",
            "unsloth_fixed",
            "unsloth_version",
            "use_bfloat16",
            "use_cache");

    private static final Set<String> TRAINING = Set.of(
            "attention_dropout",
            "attention_probs_dropout_prob",
            "attn_pdrop",
            "classifier_dropout",
            "embd_pdrop",
            "gradient_checkpointing",
            "hidden_dropout",
            "hidden_dropout_prob",
            "initializer_range",
            "problem_type",
            "resid_pdrop",
            "tf_legacy_loss");

    private static final Set<String> SHAPE_OF_RESULTS = Set.of(
            "chunk_size_feed_forward",
            "finetuning_task",
            "id2label",
            "label2id",
            "output_attentions",
            "output_hidden_states",
            "output_past",
            "output_scores",
            "prefix",
            "pruned_heads",
            "return_dict",
            "return_dict_in_generate",
            "task_specific_params");

    /** Ids for the tokenizer, and fields of encoders and encoder-decoder models. */
    private static final Set<String> OTHER_HALF = Set.of(
            "bos_token_id",
            "cross_attention_hidden_size",
            "decoder_start_token_id",
            "is_decoder",
            "pad_token_id",
            "sep_token_id",
            "tie_encoder_decoder");

    private static final Set<String> GENERATION = Set.of(
            "bad_words_ids",
            "begin_suppress_tokens",
            "diversity_penalty",
            "do_sample",
            "early_stopping",
            "encoder_no_repeat_ngram_size",
            "exponential_decay_length_penalty",
            "forced_bos_token_id",
            "forced_eos_token_id",
            "length_penalty",
            "max_length",
            "min_length",
            "no_repeat_ngram_size",
            "num_beam_groups",
            "num_beams",
            "num_return_sequences",
            "remove_invalid_values",
            "repetition_penalty",
            "suppress_tokens",
            "temperature",
            "top_k",
            "top_p",
            "typical_p");

    /** Notes about positions that no code reads, and the original length of a scaling, which is unused without one. */
    private static final Set<String> POSITIONS =
            Set.of("finetuned", "max_sequence_length", "original_max_position_embeddings");

    private ConfigFields() {}

    /**
     * Returns whether a field does not change the logits; those that begin with an underscore are transformers' own
     * notes.
     */
    static boolean isWithoutEffect(String field) {
        return field.startsWith("_")
                || LOADING.contains(field)
                || TRAINING.contains(field)
                || SHAPE_OF_RESULTS.contains(field)
                || OTHER_HALF.contains(field)
                || GENERATION.contains(field)
                || POSITIONS.contains(field);
    }
}
