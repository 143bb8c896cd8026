package io.roseinfer.spark;

import static org.assertj.core.api.Assertions.assertThat;

import io.roseinfer.Roseinfer;
import io.roseinfer.batch.RequestKey;
import io.roseinfer.engine.Engine;
import io.roseinfer.engine.GenerationRequest;
import io.roseinfer.sampling.SamplingParams;
import io.roseinfer.spark.GenerateSpec.Columns;
import io.roseinfer.spark.GenerateSpec.Sampling;
import java.io.DataInputStream;
import java.io.DataOutputStream;
import java.io.IOException;
import java.io.Serializable;
import java.io.UncheckedIOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.HashSet;
import java.util.Iterator;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import org.apache.spark.TaskContext;
import org.apache.spark.api.java.function.MapPartitionsFunction;
import org.apache.spark.sql.Dataset;
import org.apache.spark.sql.Encoders;
import org.apache.spark.sql.Row;
import org.apache.spark.sql.SparkSession;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** Two executor JVMs with two concurrent tasks each, in which the plugin opens an engine. */
@Tag("cluster")
@Timeout(600)
class ClusterTest {
    private static final EngineSpec TINY =
            EngineSpec.of("builtin:tiny").withDevice("cpu").withThreads(1).withMaxBatchSize(4);
    private static final GenerateSpec SPEC = GenerateSpec.of(TINY)
            .withMaxNewTokens(12)
            .withSampling(new Sampling(1, 0, 1))
            .withColumns(Columns.defaults().withKey("id"))
            .withSeed(11)
            .withMaxInFlight(3);
    private static final int ROWS = 64;
    private static final int PARTITIONS = 8;

    private static SparkSession spark;

    @BeforeAll
    static void start() {
        spark = LocalSpark.builder("local-cluster[2,2,1024]")
                .config("spark.plugins", RoseinferPlugin.class.getName())
                .config("spark.roseinfer.model", TINY.model())
                .config("spark.roseinfer.device", TINY.device())
                .config("spark.roseinfer.threads", TINY.threads())
                .config("spark.roseinfer.maxBatchSize", TINY.maxBatchSize())
                .config("spark.executor.extraClassPath", System.getProperty("java.class.path"))
                // A busy machine must not be treated as lost.
                .config("spark.worker.timeout", 600)
                .config("spark.network.timeout", "600s")
                .config("spark.executorEnv.JAVA_HOME", System.getProperty("java.home"))
                .getOrCreate();
    }

    @AfterAll
    static void stop() {
        spark.stop();
        RoseinferSpark.closeEngines();
    }

    /** The completions of one engine in this process, by row. */
    private static Map<Long, List<Integer>> oracle() {
        Map<Long, List<Integer>> ids = new HashMap<>();
        try (Engine engine = Roseinfer.open("builtin:tiny")) {
            for (long id = 0; id < ROWS; id++) {
                GenerationRequest request = GenerationRequest.of(LocalSpark.prompt((int) id))
                        .withMaxNewTokens(SPEC.maxNewTokens())
                        .withSampling(SamplingParams.random())
                        .withSeed(RequestKey.of(Long.toString(id)).seed(SPEC.seed()));
                ids.put(
                        id,
                        Arrays.stream(engine.generate(request).ids()).boxed().toList());
            }
        }
        return ids;
    }

    private static Map<Long, List<Integer>> ids(List<Row> rows) {
        Map<Long, List<Integer>> ids = new HashMap<>();
        for (Row row : rows) {
            assertThat(ids.put(row.getLong(0), row.getStruct(2).getList(1)))
                    .as("row %s before", row.get(0))
                    .isNull();
        }
        return ids;
    }

    /**
     * Counts the engines of the process that generates a partition, by their threads. It reports the number and waits
     * until the connection ends, so that one executor cannot take all partitions before the other has started.
     *
     * @param port of this machine, where reports are read; it does not wait if nothing reads them
     */
    private record Census(int port) implements MapPartitionsFunction<Row, String>, Serializable {
        @Override
        public Iterator<String> call(Iterator<Row> rows) {
            rows.forEachRemaining(row -> {});
            String report = ProcessHandle.current().pid() + " has " + engines();
            try (Socket socket = new Socket(InetAddress.getLoopbackAddress(), port)) {
                new DataOutputStream(socket.getOutputStream()).writeUTF(report);
                int unused = socket.getInputStream().read();
            } catch (IOException closed) {
                // Both executors have reported.
            }
            return List.of(report).iterator();
        }

        private static long engines() {
            return Thread.getAllStackTraces().keySet().stream()
                    .filter(thread -> thread.getName().equals("roseinfer-engine"))
                    .count();
        }
    }

    @Test
    void each_executor_has_one_engine_for_all_its_tasks() throws Exception {
        Set<String> reports = new HashSet<>();
        try (ExecutorService background = Executors.newSingleThreadExecutor()) {
            Future<List<String>> job;
            try (ServerSocket server = new ServerSocket(0, PARTITIONS, InetAddress.getLoopbackAddress())) {
                Census census = new Census(server.getLocalPort());
                job = background.submit(() -> RoseinferSpark.generate(LocalSpark.prompts(spark, ROWS, PARTITIONS), SPEC)
                        .mapPartitions(census, Encoders.STRING())
                        .collectAsList());
                List<Socket> waiting = new ArrayList<>();
                while (reports.size() < 2) {
                    Socket socket = server.accept();
                    waiting.add(socket);
                    reports.add(new DataInputStream(socket.getInputStream()).readUTF());
                }
                for (Socket socket : waiting) {
                    socket.close();
                }
            }
            reports.addAll(job.get());
        }
        assertThat(reports)
                .hasSize(2)
                .allMatch(report -> report.endsWith(" has 1"))
                .noneMatch(report -> report.startsWith(ProcessHandle.current().pid() + " "));
    }

    /**
     * Stops the first attempt of one partition in the middle, and reports its process.
     *
     * @param port of this machine, where the process is reported
     */
    private record StopsInTheMiddle(int port) implements MapPartitionsFunction<Row, Row>, Serializable {
        @Override
        public Iterator<Row> call(Iterator<Row> rows) {
            boolean first =
                    TaskContext.getPartitionId() == 0 && TaskContext.get().attemptNumber() == 0;
            return first ? new Stopping(rows, port) : rows;
        }
    }

    private static final class Stopping implements Iterator<Row> {
        private final Iterator<Row> rows;
        private final int port;
        private int passed;

        Stopping(Iterator<Row> rows, int port) {
            this.rows = rows;
            this.port = port;
        }

        @Override
        public boolean hasNext() {
            return rows.hasNext();
        }

        @Override
        public Row next() {
            if (passed++ == SPEC.maxInFlight() + 2) {
                try (Socket socket = new Socket(InetAddress.getLoopbackAddress(), port)) {
                    new DataOutputStream(socket.getOutputStream())
                            .writeLong(ProcessHandle.current().pid());
                    throw new IllegalStateException(
                            "still alive, received " + socket.getInputStream().read());
                } catch (IOException e) {
                    throw new UncheckedIOException(e);
                }
            }
            return rows.next();
        }
    }

    @Test
    void executor_killed_in_mid_job_loses_and_duplicates_no_row() throws Exception {
        try (ServerSocket server = new ServerSocket(0, 1, InetAddress.getLoopbackAddress());
                ExecutorService background = Executors.newSingleThreadExecutor()) {
            Dataset<Row> prompts = LocalSpark.prompts(spark, ROWS, PARTITIONS)
                    .mapPartitions(new StopsInTheMiddle(server.getLocalPort()), Encoders.row(LocalSpark.PROMPTS));
            Future<List<Row>> job = background.submit(
                    () -> RoseinferSpark.generate(prompts, SPEC).collectAsList());
            try (Socket doomed = server.accept()) {
                ProcessHandle executor = ProcessHandle.of(new DataInputStream(doomed.getInputStream()).readLong())
                        .orElseThrow();
                assertThat(executor.destroyForcibly()).isTrue();
                executor.onExit().join();
            }
            assertThat(ids(job.get())).isEqualTo(oracle());
        }
    }
}
