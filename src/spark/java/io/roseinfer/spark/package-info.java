/**
 * Generation in Apache Spark: adds completions to the rows of a data frame, with one engine per executor.
 *
 * <p>{@code RoseinferSpark} and {@code GenerateTransformer} check the columns and send {@code GenerateRows} to the executors. There all
 * tasks share one engine of {@code ExecutorEngines}, each through an {@code InFlight}, which returns rows in order of completion.
 *
 * <p>{@code SparkBatch} processes a file of requests in the same way: a {@code BatchTask} per partition, whose responses are one
 * {@code PartFile}.
 *
 * <p>Invariants: a row's tokens are a function of the row, the spec and the model, never of the partition, the attempt or other rows.
 * A row that cannot be served gets an error, and the job continues. A task that ends, in any way, leaves nothing in the engine. A
 * failed engine fails the task, so that Spark retries it. A model that cannot be loaded ends the job ({@code DeterministicFailures}).
 *
 * <p>Compiled for Java 17 into a separate jar, by the Maven profile {@code spark}: nothing else depends on Spark, and on an older JVM
 * the classes that Spark loads report that it is too old ({@code JavaVersion}).
 *
 * <p>Why not a server process next to the executors: it would need ports, supervision, and another flow control. Why not a batch per
 * task: the device would idle at the end of each.
 */
@NullMarked
package io.roseinfer.spark;

import org.jspecify.annotations.NullMarked;
