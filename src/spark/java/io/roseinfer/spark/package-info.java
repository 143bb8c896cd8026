/**
 * Generation in Apache Spark: a data frame's rows in, the same rows with their completions out, by one engine in each executor.
 *
 * <p>{@code RoseinferSpark} and {@code GenerateTransformer} check the columns and send {@code GenerateRows} to the executors; there all tasks feed
 * one engine of {@code ExecutorEngines}, each through an {@code InFlight}, which hands rows back in the order in which they end.
 *
 * <p>{@code SparkBatch} answers a file of requests the same way: a {@code BatchTask} for each partition, whose answers are one
 * {@code PartFile}.
 *
 * <p>Invariants: a row's tokens are a function of the row, the spec and the model, never of the partition, the attempt or the rows around
 * it; a row that cannot be served gets an error and stops nothing; a task that ends, in whatever way, leaves nothing in the engine; a dead
 * engine fails the task, so that Spark tries it again; a model that cannot be loaded ends the job ({@code DeterministicFailures}).
 *
 * <p>Compiled for Java 17 into a jar of its own, by the Maven profile {@code spark}: nothing else knows Spark, and classes that Spark loads
 * on an old JVM can say that it is too old ({@code JavaVersion}).
 *
 * <p>Why not a server process beside the executors: it would need ports, supervision, and the flow control that tasks have already.
 * Why not a batch for each task: its tail would leave the device idle.
 */
@NullMarked
package io.roseinfer.spark;

import org.jspecify.annotations.NullMarked;
