/**
 * Requests in a file, answers to a file, in OpenAI's batch format.
 *
 * <p>A {@code BatchLine} is a line of the input, and a {@code BatchModel} makes a call of it and lines of the output of what came of that,
 * by the server's own reading and writing ({@code server.api}).
 *
 * <p>Invariants: an answer is a function of its line, the model and a seed, never of order, time or the lines around it; a line that
 * cannot be served is answered with an error and stops nothing.
 *
 * <p>Why not a client of the server: it would need a port, and a socket's flow control knows nothing of an engine's.
 */
@NullMarked
package io.roseinfer.batch;

import org.jspecify.annotations.NullMarked;
