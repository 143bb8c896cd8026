/**
 * OpenAI's API as data: a body to a checked call, completions to the objects of an answer, refusals to error objects.
 *
 * <p>{@code CompletionReader}, with {@code StopConditionReader} for what ends a completion, turns the fields of a body into a
 * {@code CompletionCall}, {@code CompletionJson} completions into JSON. A chat differs in what is read ({@code ChatReader}, with {@code ChatPrompts} for the conversation) and in how it is told
 * ({@code ChatJson}).
 *
 * <p>Invariants: nothing here submits, waits or writes to a client; whatever is refused is refused by the name of its field.
 *
 * <p>Why not data binding for bodies: it would take "5" for 5, and could not say which of the forms of a field was meant.
 */
@NullMarked
package io.roseinfer.server.api;

import org.jspecify.annotations.NullMarked;
