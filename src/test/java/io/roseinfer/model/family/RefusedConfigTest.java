package io.roseinfer.model.family;

import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.roseinfer.base.RoseException.BadModel;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Unsupported or contradictory fields of each family that would change the result. */
class RefusedConfigTest {
    @ParameterizedTest
    @CsvSource(delimiter = '|', textBlock = """
                    llama    | "rope_parameters":{"full_attention":{"rope_type":"default"}} | full_attention
                    llama    | "layer_types":["sliding_attention"],"num_hidden_layers":1 | layer_types
                    llama    | "rope_scaling":{"type":"llama3","factor":8,"low_freq_factor":1,"high_freq_factor":4,"original_max_position_embeddings":64},"original_max_position_embeddings":32 | original_max_position_embeddings
                    llama    | "architectures":["LlamaForSequenceClassification"]      | LlamaForSequenceClassification
                    qwen3    | "architectures":["Qwen3ForTokenClassification"]         | ForCausalLM
                    qwen2    | "is_encoder_decoder":true                               | is_encoder_decoder
                    llama    | "hidden_size":null                                      | hidden_size
                    qwen2    | "use_mrope":true                                        | use_mrope
                    qwen2    | "num_key_value_heads":5                                 | num_key_value_heads
                    qwen2    | "use_sliding_window":1                                  | use_sliding_window
                    qwen2    | "use_sliding_window":true,"sliding_window":0            | sliding_window
                    qwen2    | "use_sliding_window":true,"max_window_layers":-1        | max_window_layers
                    qwen2    | "layer_types":["full_attention"]                        | for each of 32 layers
                    qwen2    | "layer_types":"full_attention"                          | layer_types
                    qwen2    | "layer_types":["chunked_attention"],"num_hidden_layers":1 | chunked_attention
                    qwen2    | "layer_types":["sliding_attention"],"num_hidden_layers":1 | use_sliding_window
                    qwen2    | "rope_scaling":{"type":"mrope"}                         | mrope
                    qwen3    | "rope_scaling":{"type":"dynamic","factor":2}            | dynamic
                    qwen3    | "rope_scaling":{"type":"yarn"}                          | factor is missing
                    qwen3    | "head_dim":15                                           | even
                    mistral  | "num_hidden_layers":2,"layer_types":["sliding_attention","full_attention"] | the same window
                    mistral  | "num_hidden_layers":1,"sliding_window":null,"layer_types":["sliding_attention"] | sliding_window
                    smollm3  | "no_rope_layers":[1,0]                                  | for each of 36 layers
                    smollm3  | "no_rope_layers":[1,2],"num_hidden_layers":2            | no_rope_layers
                    smollm3  | "no_rope_layer_interval":0                              | no_rope_layer_interval
                    gpt_neox | "num_attention_heads":7                                 | hidden_size
                    gpt_neox | "rotary_pct":0.001                                      | rotary part
                    gpt_neox | "rotary_pct":1.5                                        | rotary part
                    gpt_neox | "rotary_pct":0.5,"partial_rotary_factor":0.25           | aliases
                    gpt_neox | "rotary_emb_base":5,"rope_theta":6                      | aliases
                    gpt_neox | "hidden_size":60,"num_attention_heads":4,"rotary_pct":1 | must be even
                    gpt_neox | "hidden_act":"mish"                                     | hidden_act
                    gpt_neox | "attention_bias":"yes"                                  | attention_bias""")
    void unsupported_setting_is_rejected_by_name(String type, String members, String named) {
        assertThatThrownBy(() -> Configs.spec(type, members))
                .isInstanceOf(BadModel.class)
                .hasMessageContaining("m/config.json")
                .hasMessageContaining(named);
    }
}
