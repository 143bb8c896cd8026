package io.roseinfer.cli.bench;

import io.roseinfer.base.RoseException.BadInput;
import io.roseinfer.bench.compare.Study;
import io.roseinfer.bench.compare.Sweep;
import io.roseinfer.bench.compare.SweepPoint;
import io.roseinfer.bench.compare.SweepResult;
import io.roseinfer.bench.report.Environment;
import io.roseinfer.bench.report.ResultFile;
import io.roseinfer.bench.report.ResultJson;
import io.roseinfer.bench.report.ResultKind;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/** The points of a sweep so far, and their file. */
final class SweepFile {
    private final Optional<ResultFile> file;
    private final Study study;
    private final double attainment;
    private final List<SweepPoint> points = new ArrayList<>();
    private final List<Environment> environments = new ArrayList<>();

    /**
     * Creates a sweep without points.
     *
     * @param file rewritten after every point
     * @param study description of the sweep; a file can be resumed if its shared arguments are the same
     */
    SweepFile(Optional<ResultFile> file, Study study, double attainment) {
        this.file = file;
        this.study = study;
        this.attainment = attainment;
    }

    /**
     * Loads the valid points of the file.
     *
     * @throws BadInput if the points were measured with other arguments
     */
    void resume() {
        ResultFile to =
                file.orElseThrow(() -> new BadInput("--resume needs a file with points; give it with --json FILE"));
        to.existing().ifPresent(document -> {
            if (!ResultKind.of(document).equals(Optional.of(ResultKind.SWEEP))) {
                throw new BadInput(to.shown() + " was not written by bench sweep; name another file");
            }
            SweepResult before = ResultJson.read(to.shown(), document, SweepResult.class);
            List<String> shared = before.roseinfer().study().shared();
            if (!shared.equals(study.shared())) {
                throw new BadInput("--resume: " + to.shown() + " was measured with '" + String.join(" ", shared)
                        + "', not with '" + String.join(" ", study.shared())
                        + "'; repeat the same command, or name another file");
            }
            before.sweep().points().stream().filter(SweepPoint::counts).forEach(points::add);
            environments.addAll(before.roseinfer().study().environments());
        });
    }

    Optional<SweepPoint> find(Map<String, String> setting) {
        return points.stream().filter(point -> point.flags().equals(setting)).findFirst();
    }

    /** Adds a point with its environment, and rewrites the file. */
    void add(SweepPoint point, Environment environment) {
        Environment ofMany = environment.ofMany();
        if (!environments.contains(ofMany)) {
            environments.add(ofMany);
        }
        points.add(point.in(environments.indexOf(ofMany)));
        file.ifPresent(to -> to.write(result()));
    }

    Sweep sweep() {
        return new Sweep(points, attainment);
    }

    SweepResult result() {
        return SweepResult.of(
                sweep(),
                new Study(
                        study.command(),
                        study.shared(),
                        study.objectives(),
                        study.percentiles(),
                        List.copyOf(environments)));
    }
}
