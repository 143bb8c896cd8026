/**
 * The way in for programs: {@link io.roseinfer.Roseinfer} puts a model, a device and an engine together, as
 * {@link io.roseinfer.Settings} ask for them. The engine, its requests and its streams are in {@link io.roseinfer.engine}.
 *
 * <p>The API is what is public in this package, in {@link io.roseinfer.engine}, {@link io.roseinfer.sampling},
 * {@link io.roseinfer.scheduler.policy} and {@link io.roseinfer.metrics}, with {@link io.roseinfer.scheduler.SchedulerOptions},
 * {@link io.roseinfer.scheduler.FinishReason}, {@link io.roseinfer.base.RoseException} and {@link io.roseinfer.base.Clock}, and the types
 * that these take or return: {@link io.roseinfer.backend.Precision}, {@link io.roseinfer.backend.KvPrecision},
 * {@link io.roseinfer.backend.KvGeometry}, {@link io.roseinfer.engine.routing.RoutingPolicy}, {@link io.roseinfer.tokenizer.Tokenizer},
 * {@link io.roseinfer.tokenizer.chat.ChatTemplate} with {@link io.roseinfer.tokenizer.chat.Conversation},
 * {@link io.roseinfer.hub.DownloadListener} and {@link io.roseinfer.model.ModelSpec}. It refuses a
 * null argument by name, with a {@link java.lang.NullPointerException}, and bad input with a
 * {@link io.roseinfer.base.RoseException}. Until version 1.0 a release may change it and says so in its change log.
 *
 * <p>Everything else is public because packages cannot share otherwise, and may change with any release: so
 * {@link io.roseinfer.LoadedModel#runner}, {@code Engine.open}, {@link io.roseinfer.engine.OnlineScheduler},
 * {@link io.roseinfer.engine.EngineLimits} and {@link io.roseinfer.engine.EngineWarmUp} are for experiments with roseinfer itself, and so are the instruments of
 * {@link io.roseinfer.observe}.
 */
@NullMarked
package io.roseinfer;

import org.jspecify.annotations.NullMarked;
