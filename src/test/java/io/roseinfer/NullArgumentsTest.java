package io.roseinfer;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.catchThrowable;

import io.roseinfer.backend.Backend;
import io.roseinfer.backend.KvGeometry;
import io.roseinfer.backend.KvPrecision;
import io.roseinfer.backend.ModelRunner;
import io.roseinfer.backend.Precision;
import io.roseinfer.base.Clock;
import io.roseinfer.base.StrictJson;
import io.roseinfer.engine.ChatFormat;
import io.roseinfer.engine.ChatMessage;
import io.roseinfer.engine.ChatPrompt;
import io.roseinfer.engine.Completion;
import io.roseinfer.engine.Engine;
import io.roseinfer.engine.EngineOptions;
import io.roseinfer.engine.EngineStats;
import io.roseinfer.engine.GeneratedToken;
import io.roseinfer.engine.GenerationRequest;
import io.roseinfer.engine.Prompt;
import io.roseinfer.engine.PromptToken;
import io.roseinfer.engine.RequestCounts;
import io.roseinfer.engine.RequestOptions;
import io.roseinfer.engine.TokenStream;
import io.roseinfer.engine.Tool;
import io.roseinfer.engine.ToolCall;
import io.roseinfer.engine.Tools;
import io.roseinfer.engine.routing.RoutingPolicy;
import io.roseinfer.grammar.Expression;
import io.roseinfer.grammar.Grammar;
import io.roseinfer.hub.DownloadListener;
import io.roseinfer.metrics.RequestTimeline;
import io.roseinfer.metrics.StepRecord.Fact;
import io.roseinfer.observe.Observers;
import io.roseinfer.sampling.SamplingParams;
import io.roseinfer.sampling.TokenConstraints;
import io.roseinfer.scheduler.FinishReason;
import io.roseinfer.scheduler.SchedulerOptions;
import io.roseinfer.scheduler.policy.AdmissionPolicy;
import io.roseinfer.scheduler.policy.Drafter;
import io.roseinfer.scheduler.policy.EvictionPolicy;
import io.roseinfer.scheduler.policy.Policies;
import io.roseinfer.scheduler.policy.PreemptionPolicy;
import io.roseinfer.scheduler.policy.StepPolicy;
import io.roseinfer.tokenizer.Tokenizer;
import io.roseinfer.tokenizer.chat.reply.ReplyFormat;
import java.lang.reflect.Constructor;
import java.lang.reflect.Executable;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Method;
import java.lang.reflect.Modifier;
import java.lang.reflect.Parameter;
import java.time.Duration;
import java.time.InstantSource;
import java.util.HashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalInt;
import java.util.OptionalLong;
import java.util.Set;
import java.util.function.BiFunction;
import java.util.function.Consumer;
import java.util.function.Function;
import java.util.function.Supplier;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import tools.jackson.databind.JsonNode;

/** Calls every API method and constructor with each of its arguments null, one at a time. */
class NullArgumentsTest {
    private static final List<Class<?>> CALLED = List.of(
            Roseinfer.class,
            Settings.class,
            LoadedModel.class,
            Engine.class,
            EngineOptions.class,
            GenerationRequest.class,
            Prompt.Text.class,
            Prompt.Tokens.class,
            RequestOptions.class,
            TokenStream.class,
            SchedulerOptions.class,
            SchedulerOptions.Builder.class,
            Policies.class,
            ChatMessage.class,
            ChatPrompt.class,
            Tool.class,
            ToolCall.class,
            Tools.class,
            Completion.class,
            GeneratedToken.class,
            PromptToken.class,
            RequestCounts.class,
            EngineStats.class,
            DeviceOptions.class,
            SamplingParams.class,
            Grammar.class);

    /** A non-null value for each type of a parameter, and the objects whose methods are called. */
    private final Map<Class<?>, Object> values = new HashMap<>();

    private LoadedModel model;
    private Engine engine;

    private <T> void put(Class<T> type, T value) {
        values.put(type, value);
    }

    @BeforeEach
    void open() {
        DownloadListener downloads = (file, soFar, total) -> {};
        Settings settings = Settings.of("builtin:tiny").withDevice(Settings.Device.SIM);
        model = Roseinfer.load(settings, downloads);
        engine = model.serve(EngineOptions.defaults());
        Function<Object, EngineOptions> options = spec -> EngineOptions.defaults();
        put(int.class, 1);
        put(long.class, 1L);
        put(float.class, 1f);
        put(boolean.class, true);
        put(String.class, "builtin:tiny");
        put(String[].class, new String[0]);
        put(int[].class, new int[] {1});
        put(Object.class, "a tag");
        put(Map.class, Map.of());
        put(Grammar.class, Grammar.jsonObject());
        put(Expression.class, Expression.sequence());
        put(List.class, List.of());
        put(Optional.class, Optional.empty());
        put(OptionalLong.class, OptionalLong.empty());
        put(OptionalInt.class, OptionalInt.empty());
        put(Function.class, options);
        put(Runnable.class, () -> {});
        put(RoutingPolicy.class, RoutingPolicy.pull());
        put(Duration.class, Duration.ofSeconds(1));
        put(Clock.class, Clock.system());
        put(InstantSource.class, InstantSource.system());
        put(DownloadListener.class, downloads);
        put(Observers.class, Observers.NONE);
        put(ModelRunner.class, model.runner());
        put(Settings.class, settings);
        put(Supplier.class, (Supplier<Backend>) CustomDevice::new);
        put(Settings.Device.class, Settings.Device.SIM);
        put(DeviceOptions.class, settings.deviceOptions());
        put(KvPrecision.class, KvPrecision.AUTO);
        put(Precision.class, Precision.AUTO);
        put(LoadedModel.class, model);
        put(Engine.class, engine);
        put(EngineOptions.class, EngineOptions.defaults());
        put(GenerationRequest.class, GenerationRequest.of("Once"));
        put(Prompt.class, new Prompt.Text("Once"));
        put(Prompt.Text.class, new Prompt.Text("Once"));
        put(Prompt.Tokens.class, new Prompt.Tokens(1));
        put(RequestOptions.class, RequestOptions.NONE);
        put(SamplingParams.class, SamplingParams.greedy());
        put(TokenConstraints.class, TokenConstraints.NONE);
        put(TokenStream.class, engine.submit(GenerationRequest.ofTokens(1).withMaxNewTokens(1)));
        put(SchedulerOptions.class, SchedulerOptions.defaults());
        put(Drafter.class, Drafter.none());
        put(SchedulerOptions.Builder.class, SchedulerOptions.builder());
        put(Policies.class, SchedulerOptions.defaults().policies());
        put(AdmissionPolicy.class, AdmissionPolicy.fifo());
        put(PreemptionPolicy.class, PreemptionPolicy.youngest());
        put(EvictionPolicy.class, EvictionPolicy.lru());
        put(StepPolicy.class, StepPolicy.mixed());
        put(RequestTimeline.class, new RequestTimeline(1, 2, 3, new long[0], 3, new long[0], 0));
        put(FinishReason.class, FinishReason.STOP);
        put(Fact.class, Fact.PREEMPTIONS);
        put(EngineStats.class, engine.stats());
        put(RequestCounts.class, engine.stats().requests());
        put(KvGeometry.class, engine.stats().kv());
        put(Completion.class, engine.generate(GenerationRequest.ofTokens(1).withMaxNewTokens(1)));
        put(GeneratedToken.class, new GeneratedToken(1, "", 0, List.of()));
        put(PromptToken.class, new PromptToken(1, 0, 1, List.of()));
        put(ChatMessage.class, ChatMessage.user("Once"));
        Tool tool = Tool.of("f", "", "{}");
        put(Tool.class, tool);
        put(Tool[].class, new Tool[] {tool});
        put(Tools.class, Tools.of(tool));
        put(Tools.Choice.class, Tools.Choice.AUTO);
        put(ToolCall.class, new ToolCall("1", "f", "{}"));
        Tokenizer words = model.tokenizer().orElseThrow();
        put(Tokenizer.class, words);
        put(ReplyFormat.class, ReplyFormat.PLAIN);
        put(ChatPrompt.class, new ChatPrompt(GenerationRequest.of("Once"), ReplyFormat.PLAIN, words));
        put(ChatFormat.class, ChatFormat.of(model.chat().orElseThrow()));
        put(Consumer.class, (Consumer<String>) text -> {});
        put(BiFunction.class, (BiFunction<List<ChatMessage>, Tools, ChatPrompt>) model::chatPrompt);
        put(JsonNode.class, StrictJson.mapper().createObjectNode());
    }

    @AfterEach
    void close() {
        engine.close();
        model.close();
    }

    private static Stream<Executable> calls(Class<?> type) {
        Stream<Executable> constructors = Stream.of(type.getConstructors());
        Stream<Executable> methods = Stream.of(type.getDeclaredMethods())
                .filter(method -> Modifier.isPublic(method.getModifiers()) && !method.isSynthetic())
                .filter(method -> !method.getName().equals("equals"))
                .map(Executable.class::cast);
        return Stream.concat(constructors, methods);
    }

    private static Object invoke(Executable call, @Nullable Object receiver, @Nullable Object... arguments)
            throws Throwable {
        try {
            return call instanceof Constructor<?> made
                    ? made.newInstance(arguments)
                    : ((Method) call).invoke(receiver, arguments);
        } catch (InvocationTargetException e) {
            throw e.getCause();
        }
    }

    /** Returns the parameter's name; if that is {@code value}, the name of what the method sets. */
    private static Set<String> names(Executable call, Parameter parameter) {
        String set = call.getName().startsWith("with") ? call.getName().substring(4) : call.getName();
        return Set.of(parameter.getName(), set.substring(0, 1).toLowerCase(Locale.ROOT) + set.substring(1));
    }

    @Test
    void null_is_rejected_with_the_argument_name() {
        int refused = 0;
        for (Class<?> type : CALLED) {
            for (Executable call : calls(type).toList()) {
                Parameter[] parameters = call.getParameters();
                for (int i = 0; i < parameters.length; i++) {
                    if (!parameters[i].getType().isPrimitive()) {
                        assertRefused(call, parameters, i);
                        refused++;
                    }
                }
            }
        }
        assertThat(refused).as("arguments that were null").isGreaterThan(50);
    }

    private void assertRefused(Executable call, Parameter[] parameters, int index) {
        @Nullable
        Object[] arguments = Stream.of(parameters)
                .map(parameter -> {
                    assertThat(values).as(call + " needs a value to try").containsKey(parameter.getType());
                    return values.get(parameter.getType());
                })
                .toArray();
        arguments[index] = null;
        Throwable thrown = catchThrowable(() -> invoke(call, values.get(call.getDeclaringClass()), arguments));
        assertThat(thrown)
                .as("%s with %s null", call, parameters[index].getName())
                .isExactlyInstanceOf(NullPointerException.class);
        assertThat(thrown.getMessage())
                .as("what %s says of its %s", call, parameters[index].getName())
                .isIn(names(call, parameters[index]));
    }
}
