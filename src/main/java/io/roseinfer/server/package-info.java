/**
 * The HTTP server: OpenAI's completions and chat completions, and related endpoints.
 *
 * <p>{@code Api} finds the route of a request when its headers are complete, and sends errors in one format. A {@code State} route is
 * handled on the connection's thread, or on one platform thread if it takes longer. A {@code Work} route has a virtual thread per call.
 * {@code PromptWorkers} parse and tokenize its body: a {@code CompletionReader} of {@code server.api} turns it into requests, which
 * {@code Completions} submits. {@code CompletionEvents} sends tokens on the thread of the client's connection, which the engine's
 * thread wakes for each delivery. So delivery costs the engine one queue entry per token, and no thread is woken for a single stream. Events are
 * copied from an {@code EventTemplate}. The page at {@code /} is the resource {@code page.html}. {@code RequestGate} admits requests,
 * and is notified if the engine fails.
 *
 * <p>Invariants: bad input gets an error that names its field and never reaches the engine's thread; the requests of a
 * client that disconnects are cancelled; a stream that fails ends with an error and without {@code [DONE]}; logs have
 * no text of prompts or completions.
 */
@NullMarked
package io.roseinfer.server;

import org.jspecify.annotations.NullMarked;
