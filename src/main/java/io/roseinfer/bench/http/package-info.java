/**
 * The measured run of every benchmark that offers a load: {@link io.roseinfer.bench.http.LoadRun} sends an {@code OfferedLoad} to a
 * {@link io.roseinfer.bench.http.Target}, which is a server ({@link io.roseinfer.bench.http.HttpTarget}) or an engine in this process
 * ({@link io.roseinfer.bench.http.EngineTarget}), and keeps what came back. {@link io.roseinfer.bench.http.LatencyTable} sums it up,
 * {@link io.roseinfer.bench.http.Verdict} says whether it counts, and {@link io.roseinfer.bench.http.NullServer} shows what the client
 * itself costs.
 *
 * <p>Invariants: requests are sent at times fixed beforehand, whatever becomes of those before; bytes are stamped by the thread that
 * reads them, before it looks at them; tokens are counted by ids or usage and never by event; nothing is allocated per token but
 * what the JSON parser takes.
 *
 * <p>Why not an HTTP library: its pool would hide a wait for a connection, and its threads would stamp late.
 */
@NullMarked
package io.roseinfer.bench.http;

import org.jspecify.annotations.NullMarked;
