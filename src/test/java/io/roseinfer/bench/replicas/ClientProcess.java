package io.roseinfer.bench.replicas;

import io.roseinfer.bench.load.OfferedLoad;
import io.roseinfer.cli.Main;
import java.io.IOException;
import java.net.InetSocketAddress;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.TimeUnit;

/** The commands of roseinfer that this measurement starts, each in a JVM of its own. */
final class ClientProcess {
    private static final long LIMIT_SECONDS = 150;
    private static final String COMMIT = "roseinfer.commit";

    private final Path folder;

    /**
     * @param folder the folder of result files
     */
    ClientProcess(Path folder) {
        this.folder = folder;
    }

    /**
     * Sends a load to a server with {@code bench serve}.
     *
     * @param name the name of the result file
     * @param warmUps requests before the run
     * @throws IOException if the client fails; an invalid run is not a failure
     */
    Measured send(OfferedLoad load, InetSocketAddress server, String name, int warmUps)
            throws IOException, InterruptedException {
        Path requests = folder.resolve("requests.jsonl");
        ScaledLoad.write(load, requests);
        Path result = folder.resolve(name + ".json.gz");
        int code = command(
                name,
                List.of(
                        "bench",
                        "serve",
                        "--base-url",
                        "http://127.0.0.1:" + server.getPort(),
                        "--dataset",
                        "jsonl",
                        "--dataset-path",
                        requests.toString(),
                        "--num-prompts",
                        String.valueOf(load.requests().size()),
                        "--request-rate",
                        "inf",
                        "--ignore-eos",
                        "--warmup-requests",
                        String.valueOf(warmUps),
                        "--json",
                        result.toString()));
        if (code != 0 && code != 8) {
            throw new IOException("bench serve ended with code " + code + "; see " + folder.resolve(name + ".log"));
        }
        return Measured.read(result);
    }

    /** Runs a command, whose output becomes a file named after it, and returns its exit code. */
    int command(String name, List<String> arguments) throws IOException, InterruptedException {
        List<String> command = new ArrayList<>(List.of(
                Path.of(System.getProperty("java.home"), "bin", "java").toString(),
                "--add-modules=jdk.incubator.vector",
                "--enable-native-access=ALL-UNNAMED",
                "-XX:+UseSerialGC",
                "-XX:-UsePerfData",
                "-cp",
                System.getProperty("java.class.path")));
        Optional.ofNullable(System.getProperty(COMMIT)).ifPresent(commit -> command.add("-D" + COMMIT + "=" + commit));
        command.add(Main.class.getName());
        command.addAll(arguments);
        Process process = new ProcessBuilder(command)
                .redirectErrorStream(true)
                .redirectOutput(folder.resolve(name + ".log").toFile())
                .start();
        try {
            if (!process.waitFor(LIMIT_SECONDS, TimeUnit.SECONDS)) {
                throw new IOException(String.join(" ", arguments) + " ran longer than " + LIMIT_SECONDS + " s");
            }
            return process.exitValue();
        } finally {
            process.destroyForcibly();
        }
    }
}
