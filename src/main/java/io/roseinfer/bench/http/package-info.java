/**
 * The load generator: {@link io.roseinfer.bench.http.LoadRun} sends an {@code OfferedLoad} to a
 * {@link io.roseinfer.bench.http.Target}, which is a server ({@link io.roseinfer.bench.http.HttpTarget}) or an in-process engine
 * ({@link io.roseinfer.bench.http.EngineTarget}), and records the responses. {@link io.roseinfer.bench.http.LatencyTable} computes
 * latencies, {@link io.roseinfer.bench.http.RunValidity} the validity of a run, and {@link io.roseinfer.bench.http.NullServer} is used to
 * measure the client's own overhead.
 *
 * <p>Invariants: scheduled requests are sent at fixed times, regardless of earlier ones; the thread that reads data timestamps it before
 * parsing; tokens are counted by ids or usage, never assumed per event; per token, only the JSON parser allocates.
 *
 * <p>Why not an HTTP library: its connection pool would hide waiting times, and its threads would take timestamps late.
 */
@NullMarked
package io.roseinfer.bench.http;

import org.jspecify.annotations.NullMarked;
