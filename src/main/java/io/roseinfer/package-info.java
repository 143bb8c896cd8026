/**
 * The entry point for programs: {@link io.roseinfer.Roseinfer} loads the model and opens the engine that
 * {@link io.roseinfer.Settings} describe. The engine, its requests and its streams are in {@link io.roseinfer.engine}.
 *
 * <p>The API is what is public in this package, in {@link io.roseinfer.engine}, {@link io.roseinfer.sampling},
 * {@link io.roseinfer.scheduler.policy} and {@link io.roseinfer.metrics}, with {@link io.roseinfer.scheduler.SchedulerOptions},
 * {@link io.roseinfer.scheduler.FinishReason}, {@link io.roseinfer.base.RoseException} and {@link io.roseinfer.base.Clock}, and the types
 * that these take or return: {@link io.roseinfer.backend.Precision}, {@link io.roseinfer.backend.KvPrecision},
 * {@link io.roseinfer.backend.KvGeometry}, {@link io.roseinfer.engine.routing.RoutingPolicy} with
 * {@link io.roseinfer.engine.routing.RoutedRequest} and {@link io.roseinfer.engine.routing.ReplicaView},
 * {@link io.roseinfer.tokenizer.Tokenizer},
 * {@link io.roseinfer.tokenizer.chat.ChatTemplate} with {@link io.roseinfer.tokenizer.chat.Conversation},
 * {@link io.roseinfer.tokenizer.chat.reply.ReplyDelta},
 * {@link io.roseinfer.hub.DownloadListener}, {@link io.roseinfer.grammar.Grammar} and {@link io.roseinfer.model.ModelSpec}. It rejects a null argument with a
 * {@link java.lang.NullPointerException} that names it, and bad input with a {@link io.roseinfer.base.RoseException}. Until
 * version 1.0 a release may change the API; the changelog lists the changes.
 *
 * <p>Everything else is public only because other packages need it, and may change with any release.
 * {@link io.roseinfer.backend.Backend} and its types, {@link io.roseinfer.LoadedModel#runner}, {@code Engine.open},
 * {@link io.roseinfer.engine.OnlineScheduler}, {@link io.roseinfer.engine.EngineLimits},
 * {@link io.roseinfer.engine.EngineWarmUp} and the observers of {@link io.roseinfer.observe} are for experiments with
 * roseinfer itself.
 */
@NullMarked
package io.roseinfer;

import org.jspecify.annotations.NullMarked;
