import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;

/**
 * The results of {@code tools/jmh-ab}, a line for each method and set of parameters: the ratio of speeds, B to A, as the geometric mean
 * over rounds of A B B A, with the 95 % interval by Student's distribution over the rounds' logarithms.
 */
final class JmhRatio {
    /** Student's quantile of 97.5 % for 1, 2, … degrees of freedom; beyond them the last is a close bound. */
    private static final double[] STUDENT = {
        12.706, 4.303, 3.182, 2.776, 2.571, 2.447, 2.365, 2.306, 2.262, 2.228, 2.201, 2.179, 2.160, 2.145, 2.131
    };

    private static final String[] RUNS = {"1.a", "2.b", "3.b", "4.a"};

    private JmhRatio() {}

    /** Reads {@code ROUND.RUN.json} of a folder; the arguments are the folder and the number of rounds. */
    public static void main(String[] args) throws IOException {
        Map<String, List<Double>> logRatios = new LinkedHashMap<>();
        for (int round = 1; round <= Integer.parseInt(args[1]); round++) {
            for (String run : RUNS) {
                double sign = run.endsWith("b") ? 0.5 : -0.5;
                Path file = Path.of(args[0], round + "." + run + ".json");
                for (JsonNode result : JsonMapper.shared().readTree(Files.readAllBytes(file))) {
                    List<Double> rounds = logRatios.computeIfAbsent(name(result), unused -> new ArrayList<>());
                    while (rounds.size() < round) {
                        rounds.add(0.0);
                    }
                    rounds.set(round - 1, rounds.get(round - 1) + sign * Math.log(speed(result)));
                }
            }
        }
        System.out.println("speed of the working tree relative to the revision's, above 1 is faster");
        logRatios.forEach((name, rounds) -> System.out.println(line(name, rounds)));
    }

    private static String name(JsonNode result) {
        StringBuilder name =
                new StringBuilder(result.path("benchmark").asString().replaceFirst(".*\\.(\\w+\\.\\w+)$", "$1"));
        result.path("params")
                .forEachEntry(
                        (key, value) -> name.append(' ').append(key).append('=').append(value.asString()));
        return name.toString();
    }

    /** Returns a value in proportion to the work done per second. */
    private static double speed(JsonNode result) {
        double score = result.path("primaryMetric").path("score").asDouble();
        return result.path("mode").asString().equals("thrpt") ? score : 1 / score;
    }

    private static String line(String name, List<Double> logRatios) {
        int n = logRatios.size();
        double mean =
                logRatios.stream().mapToDouble(Double::doubleValue).average().orElse(0);
        if (n < 2) {
            return String.format("%.3f              %s", Math.exp(mean), name);
        }
        double squares = logRatios.stream()
                .mapToDouble(log -> (log - mean) * (log - mean))
                .sum();
        double half = STUDENT[Math.min(n - 1, STUDENT.length) - 1] * Math.sqrt(squares / (n - 1) / n);
        return String.format(
                "%.3f [%.3f, %.3f] %s", Math.exp(mean), Math.exp(mean - half), Math.exp(mean + half), name);
    }
}
