package io.roseinfer.bench.replay;

import io.roseinfer.engine.EngineOptions;
import io.roseinfer.engine.routing.RoutingPolicy;

/**
 * Prefill and decode engines of a simulated server. The engines of the lowest numbers compute prompts and first tokens, the
 * others all later tokens. Policies of the server serve the prefill engines, where a request has a maximum of one token.
 *
 * @param prefillEngines number of prefill engines, positive and less than all engines
 * @param transfer from a prefill engine to the decode engines
 * @param options options of each decode engine, which shares no policy with the prefill engines
 * @param routing chooses the decode engine of a request; not used with a single one
 */
public record Split(int prefillEngines, KvTransfer transfer, EngineOptions options, RoutingPolicy routing) {}
