/**
 * Requests in a file, answers to a file, in OpenAI's batch format.
 *
 * <p>A {@code BatchLine} is a line of the input, and a {@code BatchModel} makes a call of it and lines of the output of what came of that,
 * by the server's own reading and writing ({@code server.api}). A {@code BatchJob} takes lines from a {@code BatchInput} to a
 * {@code BatchOutput} by way of an engine, at most so many at a time ({@code InFlightWindow}); {@code SeenKeys} has what it must remember of each. A
 * {@code BatchCluster}, in a jar of its own, does the same on many machines.
 *
 * <p>Invariants: an answer is a function of its line, the model and a seed, never of order, time or the lines around it; a line that
 * cannot be served is answered with an error and stops nothing; a line is written whole or not at all, and behind the others; memory grows by a key
 * for each line and by nothing else.
 *
 * <p>Why not a client of the server: it would need a port, and a socket's flow control knows nothing of an engine's. Why not a journal of
 * what is done beside the output: the two would have to be written together, and the output says it.
 */
@NullMarked
package io.roseinfer.batch;

import org.jspecify.annotations.NullMarked;
