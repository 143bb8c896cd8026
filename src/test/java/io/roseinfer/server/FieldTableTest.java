package io.roseinfer.server;

import static org.assertj.core.api.Assertions.assertThat;

import io.roseinfer.server.http.RawClient.Answer;
import java.io.IOException;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/**
 * The request fields of OpenAI, vLLM, llama.cpp and SGLang, each with a value other than its default: supported,
 * rejected by name, or ignored and named in a header. No field that changes the output is ignored.
 */
@Timeout(value = 120, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
class FieldTableTest {
    private static final String SUPPORTED = """
            model "sim" | max_tokens 3 | n 2 | temperature 0.5 | top_p 0.5 | top_k 3 | min_p 0.1 | presence_penalty 1
            frequency_penalty 1 | repetition_penalty 1.1 | seed 1 | stop "zzz" | stop_token_ids [1] | ignore_eos true | stream true
            return_token_ids true | priority 1 | user "me" | truncate_prompt_tokens 5 | truncation_side "right" | request_id "r"
            return_tokens_as_token_ids true | stream_interval 2 | min_tokens 1 | best_of 1 | prompt_logprobs 1
            logit_bias {"1":5} | allowed_token_ids [1, 2, 3, 4, 5, 6, 7, 8, 9] | bad_words ["a"]
            response_format {"type":"json_object"} | structured_outputs {"regex":"a+"} | guided_json {"type":"integer"}
            guided_regex "a+" | guided_choice ["a"] | guided_grammar "start: \\"a\\"" | grammar "root ::= \\"a\\""
            json_schema {"type":"integer"}""";

    private static final String COMPLETION_ONLY = "logprobs 2 | echo true | add_special_tokens true";

    private static final String CHAT_ONLY = """
            max_completion_tokens 3 | logprobs true | add_generation_prompt false | chat_template_kwargs {"a":1}
            response_format {"type":"text"} | modalities ["text"] | tool_choice "none" | tools [] | function_call "none"
            add_special_tokens false | parallel_tool_calls true | include_reasoning true""";

    private static final String IGNORED_IN_COMPLETIONS = "parallel_tool_calls true | include_reasoning true";

    private static final String REFUSED = """
            suffix "x" | use_beam_search true
            guided_whitespace_pattern " " | regex "a" | ebnf "a" | response_format {"type":"xml"} | structured_outputs {"regex":"("}
            guided_json [1] | guided_regex "(" | guided_choice [1] | guided_grammar "a" | grammar "root ::= a" | json_schema 1
            structural_tag {"a":1} | format "json" | options {"temperature":1} | cache_salt "x" | thinking_token_budget 5
            n_predict 5 | n_probs 5 | repeat_penalty 1.1 | typical_p 0.5 | tfs_z 0.5 | top_a 0.5 | top_n_sigma 1 | mirostat 2
            dynatemp_range 0.5 | dry_multiplier 0.8 | xtc_probability 0.5 | samplers ["top_k"] | num_beams 2
            no_repeat_ngram_size 2 | guidance_scale 2 | negative_prompt "a" | max_new_tokens 5 | min_new_tokens 5
            lora_adapter "a" | lora_path "a" | adapter_id "a" | stop_regex "a" | no_stop_trim true
            custom_logit_processor "a" | logits_processors ["a"] | vllm_xargs {"a":1} | return_hidden_states true
            input_embeds [1] | functions [{"name":"f"}] | documents [{"a":1}] | prompt_embeds "a" | tools [{"type":"function"}]
            kv_transfer_params {"a":1} | repetition_detection {"a":1} | skip_special_tokens false | detokenize false
            spaces_between_special_tokens false | enable_thinking false | logprob_token_ids [1]
            tool_choice "required" | function_call "auto" | best_of 2""";

    private static final String REFUSED_IN_CHATS = """
            echo true | chat_template "x" | audio {"voice":"a"} | prediction {"type":"content"} | modalities ["audio"]
            web_search_options {"a":1} | add_special_tokens true | top_logprobs 2 | reasoning_effort "banana"
            reasoning_effort 5""";

    /** Fields that do not affect the tokens here, with one model and without tools. */
    private static final String IGNORED = """
            store true | metadata {"a":"b"} | service_tier "auto" | safety_identifier "a"
            prompt_cache_key "a" | reasoning_effort "low" | keep_alive 5 | cache_prompt true
            id_slot 1 | timings_per_token true | data_parallel_rank 0 | rid "a" | return_progress true""";

    private static TestServer server;

    @BeforeAll
    static void start() {
        server = TestServer.startChat();
    }

    @AfterAll
    static void stop() {
        server.close();
    }

    /** The fields of tables with their values, in order. */
    private static List<Map.Entry<String, String>> fields(String... tables) {
        List<Map.Entry<String, String>> fields = new ArrayList<>();
        for (String table : tables) {
            for (String field : table.split("\\||\\n", -1)) {
                String[] parts = field.strip().split(" ", 2);
                fields.add(Map.entry(parts[0], parts[1]));
            }
        }
        return fields;
    }

    private static Answer ask(boolean chat, Map.Entry<String, String> field) throws IOException {
        Map<String, String> body = new HashMap<>(Map.of("max_tokens", "2"));
        body.put(chat ? "messages" : "prompt", chat ? "[{\"role\":\"user\",\"content\":\"Hi\"}]" : "\"Hi\"");
        body.put(field.getKey(), field.getValue());
        List<String> parts = new ArrayList<>();
        body.forEach((name, value) -> parts.add("\"" + name + "\":" + value));
        return server.post(chat ? "/v1/chat/completions" : "/v1/completions", "{" + String.join(",", parts) + "}");
    }

    private static void requireSupported(boolean chat, String... tables) throws IOException {
        for (Map.Entry<String, String> field : fields(tables)) {
            Answer answer = ask(chat, field);
            assertThat(answer.status()).as("%s: %s", field, answer.body()).isEqualTo(200);
            assertThat(answer.header("x-roseinfer-ignored"))
                    .as(field.toString())
                    .isEmpty();
        }
    }

    private static void requireRefused(boolean chat, String... tables) throws IOException {
        for (Map.Entry<String, String> field : fields(tables)) {
            Answer answer = ask(chat, field);
            assertThat(answer.status()).as("%s: %s", field, answer.body()).isEqualTo(400);
            String param = TestServer.json(answer).get("error").get("param").stringValue();
            assertThat(param.replaceFirst("\\[\\d+].*", "")).isEqualTo(field.getKey());
        }
    }

    @Test
    void every_supported_field_is_read() throws IOException {
        requireSupported(false, SUPPORTED, COMPLETION_ONLY);
        requireSupported(true, SUPPORTED, CHAT_ONLY);
    }

    @Test
    void unsupported_fields_with_an_effect_are_rejected_by_name() throws IOException {
        requireRefused(false, REFUSED, "add_special_tokens false");
        requireRefused(true, REFUSED, REFUSED_IN_CHATS);
    }

    @Test
    void every_other_field_is_named_as_ignored() throws IOException {
        for (boolean chat : new boolean[] {false, true}) {
            for (Map.Entry<String, String> field : chat ? fields(IGNORED) : fields(IGNORED, IGNORED_IN_COMPLETIONS)) {
                Answer answer = ask(chat, field);
                assertThat(answer.status()).as("%s: %s", field, answer.body()).isEqualTo(200);
                assertThat(answer.header("x-roseinfer-ignored")).contains(field.getKey());
            }
        }
    }
}
