package io.roseinfer.cli.bench;

import io.roseinfer.base.RoseException.BadInput;
import io.roseinfer.bench.compare.CompareJson;
import io.roseinfer.bench.compare.Sweep;
import io.roseinfer.bench.compare.SweepPoint;
import io.roseinfer.bench.report.Environment;
import io.roseinfer.bench.report.JsonParts;
import io.roseinfer.bench.report.ResultFile;
import java.util.ArrayList;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.node.ObjectNode;

/** The points of a sweep as they come in, and the file that has them. */
final class SweepFile {
    private final Optional<ResultFile> file;
    private final CompareJson.Command command;
    private final Map<String, Double> bounds;
    private final double attainment;
    private final List<SweepPoint> points = new ArrayList<>();
    private final Set<JsonNode> environments = new LinkedHashSet<>();

    /**
     * A sweep without points.
     *
     * @param file is written anew with every point
     * @param command what is run; a file is resumed if the arguments that all points share are the same
     */
    SweepFile(Optional<ResultFile> file, CompareJson.Command command, Map<String, Double> bounds, double attainment) {
        this.file = file;
        this.command = command;
        this.bounds = Map.copyOf(bounds);
        this.attainment = attainment;
    }

    /**
     * Takes the points that the file has and that count; the others are to be measured again.
     *
     * @throws BadInput if they were measured with other arguments
     */
    void resume() {
        ResultFile to = file.orElseThrow(
                () -> new BadInput("--resume has no file to read points from; name it with --json FILE"));
        to.existing().ifPresent(document -> {
            List<String> before = CompareJson.command(document).shared();
            if (!before.equals(command.shared())) {
                throw new BadInput("--resume: " + to.shown() + " was measured with '" + String.join(" ", before)
                        + "' and not with '" + String.join(" ", command.shared())
                        + "'; repeat the same command, or name another file");
            }
            CompareJson.points(document).stream().filter(SweepPoint::counts).forEach(points::add);
            environments.addAll(CompareJson.environments(document));
        });
    }

    Optional<SweepPoint> find(Map<String, String> setting) {
        return points.stream().filter(point -> point.flags().equals(setting)).findFirst();
    }

    /** Takes a point and what it was measured on. */
    void add(SweepPoint point, Environment environment) {
        points.add(point);
        environments.add(JsonParts.machine(environment));
        file.ifPresent(to -> to.write(document()));
    }

    Sweep sweep() {
        return new Sweep(points, attainment);
    }

    ObjectNode document() {
        return CompareJson.of(sweep(), command, bounds, environments);
    }
}
