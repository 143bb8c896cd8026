/**
 * An engine behind HTTP: OpenAI's completions and chats, and what goes with them.
 *
 * <p>{@code Api} finds the route of a request when its headers are complete, and answers errors in one shape. A {@code State} answers on
 * the connection's thread, or on one platform thread for what takes longer. {@code Work} has a virtual thread for each call, and its body
 * is parsed and tokenized by {@code PromptWorkers}: a {@code CompletionReader} of {@code server.api} turns a body into requests, which
 * {@code Completions} submits;
 * {@code CompletionEvents} tells tokens as they come. That it does on the thread of the client's connection, which the engine's thread
 * rings for each delivery: the engine pays a queue entry a token, and no thread is woken for a stream alone. What stands in every event
 * is copied from an {@code EventTemplate}. The page at {@code /} is {@code page.html}, a resource. {@code RequestGate} says who is
 * let in, and learns that the engine has died.
 *
 * <p>Invariants: bad input is answered with the name of its field and never reaches the engine's thread; a client that leaves takes its
 * requests with it; a stream that fails ends with an error and without {@code [DONE]}; what is logged has no text of prompts or answers.
 */
@NullMarked
package io.roseinfer.server;

import org.jspecify.annotations.NullMarked;
