/**
 * Generation in Apache Spark: a data frame's rows in, the same rows with what was generated out, by one engine in each executor.
 *
 * <p>{@code RoseinferSpark} and {@code GenerateTransformer} check the columns and send {@code GenerateRows} to the executors; there all tasks feed
 * one engine of {@code ExecutorEngines}, each through an {@code InFlight}, which hands rows back in the order in which they end.
 *
 * <p>Invariants: what a row gets is a function of the row, the spec and the model, never of the partition, the attempt or the rows around
 * it; a row that cannot be served gets an error and stops nothing; a task that ends, in whatever way, leaves nothing in the engine; a dead
 * engine fails the task, so that Spark tries it again.
 *
 * <p>Compiled for Java 17 into a jar of its own, by the Maven profile {@code spark}: nothing else knows Spark, and classes that Spark loads
 * on an old JVM can say that it is too old ({@code JavaVersion}).
 *
 * <p>Why not a process of its own beside the executors: it would need ports, a life of its own, and a flow control that Spark's tasks have.
 * Why not a batch for each task: its tail would leave the device idle.
 */
@NullMarked
package io.roseinfer.spark;

import org.jspecify.annotations.NullMarked;
