/**
 * OpenAI's API as data: converts bodies to checked calls, completions to the objects of a response, and failures to error objects.
 *
 * <p>{@code CompletionReader}, with {@code StopConditionReader} for the stop conditions and {@code ConstraintReader} for limits on tokens, turns
 * the fields of a body into a {@code CompletionCall}; {@code CompletionJson} turns completions into JSON. Chats have their own input ({@code ChatReader}, with
 * {@code ChatPrompts} for the conversation) and output ({@code ChatJson}). The Responses API is converted to a chat ({@code ResponsesReader}) and from it
 * ({@code ResponsesJson}).
 *
 * <p>Invariants: nothing here submits, waits or writes to a client; every error about a field names it.
 *
 * <p>Why not data binding for bodies: it would accept "5" for 5, and could not report which form of a field was meant.
 */
@NullMarked
package io.roseinfer.server.api;

import org.jspecify.annotations.NullMarked;
