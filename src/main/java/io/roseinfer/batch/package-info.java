/**
 * Batches: requests in a file, responses to a file, in OpenAI's batch format.
 *
 * <p>A {@code BatchLine} is a line of the input. A {@code BatchModel} converts it to a call, and completions to lines of the output,
 * with the code of the server ({@code server.api}). A {@code BatchJob} moves lines from a {@code BatchInput} through an engine to a
 * {@code BatchOutput}, with a limited number in flight ({@code InFlightWindow}); {@code SeenKeys} records the lines it has seen. A
 * {@code BatchCluster}, in a separate jar, does the same on many machines.
 *
 * <p>Invariants: a response is a function of its line, the model and a seed, never of order, time or other lines. A line that cannot
 * be served gets an error, and the batch continues. Lines are appended completely or not at all. Memory grows by a key per line only.
 *
 * <p>Why not a client of the server: it would need a port, and a socket's flow control does not know the engine's. Why not a journal
 * of finished lines next to the output: both would have to be written atomically, and the output has the same information.
 */
@NullMarked
package io.roseinfer.batch;

import org.jspecify.annotations.NullMarked;
