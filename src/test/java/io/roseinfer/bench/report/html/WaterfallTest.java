package io.roseinfer.bench.report.html;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;

import io.roseinfer.base.StrictJson;
import io.roseinfer.metrics.StepRecord;
import io.roseinfer.metrics.StepRecord.Fact;
import io.roseinfer.metrics.StepRecords;
import io.roseinfer.metrics.TokenTimes;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.function.IntToDoubleFunction;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;

/** Tests of the waterfall and of the KV-usage chart. */
class WaterfallTest {
    private static final Pattern PATH = Pattern.compile("<path class=\"b(\\d)\" d=\"([^\"]*)\"/>");
    private static final Pattern BOX = Pattern.compile("M([\\d.]+) ([\\d.]+)h([\\d.]+)v([\\d.]+)h-[\\d.]+z");
    private static final Pattern POINT = Pattern.compile("([\\d.]+),([\\d.]+)");

    private static final int STREAMING = 0;
    private static final int CLIENT = 3;
    private static final int QUEUE = 4;
    private static final int PREFILL = 5;

    /** A rectangle of the chart. */
    private record Box(double x, double y, double width, double height) {
        double end() {
            return x + width;
        }
    }

    private static ShownRun run(ShownRun.Engine engine, List<ShownRun.Request> requests) {
        return new ShownRun("a", Optional.empty(), requests, 0, engine, Map.of(), Map.of(), Optional.empty());
    }

    private static ShownRun.Request request(double due, double sent, double admitted, double token, double end) {
        return new ShownRun.Request(
                nanos(due),
                nanos(sent),
                Double.isNaN(admitted) ? OptionalLong.empty() : OptionalLong.of(nanos(admitted)),
                nanos(end),
                TokenTimes.oneByOne(nanos(token), nanos(end)));
    }

    private static long nanos(double millis) {
        return Math.round(millis * 1e6);
    }

    private static StepRecord step(double start, double end, boolean hasPrompt, long freeBlocks) {
        return StepRecords.step(Map.of(
                Fact.START_NANOS,
                nanos(start),
                Fact.DEVICE_NANOS,
                nanos(end - start),
                Fact.PREFILL_TOKENS,
                hasPrompt ? 1L : 0L,
                Fact.FREE_BLOCKS,
                freeBlocks));
    }

    private static String waterfall(ShownRun run) {
        return Waterfall.figure(run, "").map(Page::of).orElse("");
    }

    private static List<Box> boxes(String svg, int style) {
        List<Box> boxes = new ArrayList<>();
        Matcher path = PATH.matcher(svg);
        while (path.find()) {
            if (Integer.parseInt(path.group(1)) == style) {
                BOX.matcher(path.group(2))
                        .results()
                        .map(box -> new Box(
                                Double.parseDouble(box.group(1)),
                                Double.parseDouble(box.group(2)),
                                Double.parseDouble(box.group(3)),
                                Double.parseDouble(box.group(4))))
                        .forEach(boxes::add);
            }
        }
        return boxes;
    }

    /** The request is due at 0 ms, sent at 10, admitted at 30, has its first token at 60 and ends at 100. */
    @Test
    void request_components_are_contiguous_and_match_the_timestamps() {
        String svg = waterfall(run(ShownRun.Engine.UNKNOWN, List.of(request(0, 10, 30, 60, 100))));
        double x = 34;
        double perMilli = (640 - 34 - 14) / 100.0;
        int[] styles = {CLIENT, QUEUE, PREFILL, STREAMING};
        double[] lengths = {10, 20, 30, 40};
        for (int i = 0; i < styles.length; i++) {
            assertThat(boxes(svg, styles[i])).hasSize(1);
            Box box = boxes(svg, styles[i]).getFirst();
            assertThat(box.x()).isCloseTo(x, within(0.1));
            assertThat(box.width()).isCloseTo(lengths[i] * perMilli, within(0.1));
            x = box.end();
        }
        assertThat(svg).contains("All 1 requests with a token");
    }

    @Test
    void request_without_admission_time_has_one_component_before_its_token() {
        String svg = waterfall(run(ShownRun.Engine.UNKNOWN, List.of(request(0, 0, Double.NaN, 60, 100))));
        assertThat(boxes(svg, PREFILL)).isEmpty();
        assertThat(boxes(svg, QUEUE).getFirst().width()).isCloseTo(0.6 * (640 - 34 - 14), within(0.1));
        assertThat(svg).contains("no token yet").doesNotContain(">queue<", "prefill</span>");
    }

    private static String drawn(int requests, IntToDoubleFunction ttft) {
        return waterfall(run(
                ShownRun.Engine.UNKNOWN,
                IntStream.range(0, requests)
                        .mapToObj(i -> request(
                                10.0 * i, 10.0 * i + 1, 10.0 * i + 2, 10.0 * i + ttft.applyAsDouble(i), 10.0 * i + 50))
                        .toList()));
    }

    @Test
    void long_run_shows_requests_around_the_worst_ttft() {
        String middle = drawn(5000, i -> i == 1000 ? 40 : 5);
        assertThat(boxes(middle, STREAMING)).hasSize(Waterfall.MAX_REQUESTS);
        assertThat(middle).contains("Requests 901 to 1,100 of 5,000").hasSizeLessThan(40_000);
        assertThat(drawn(5000, i -> i == 3 ? 40 : 5)).contains("Requests 1 to 200 of 5,000");
        assertThat(drawn(5000, i -> i == 4990 ? 40 : 5)).contains("Requests 4,801 to 5,000 of 5,000");
    }

    /** A prefill step from 0 to 25 ms and a decode step from 25 to 50 ms; then the engine is idle until 100 ms. */
    private static final ShownRun.Engine ENGINE =
            new ShownRun.Engine(20, List.of(step(0, 25, true, 20), step(25, 50, false, 12)));

    @Test
    void prefill_and_decode_steps_span_their_duration() {
        String svg = waterfall(run(ENGINE, List.of(request(0, 0, 0, 100, 100))));
        double quarter = (640 - 34 - 14) / 4.0;
        List<Box> prompts =
                boxes(svg, PREFILL).stream().filter(box -> box.y() < 40).toList();
        assertThat(prompts.getFirst().x()).isCloseTo(34, within(0.1));
        assertThat(prompts.getLast().end()).isCloseTo(34 + quarter, within(0.1));
        List<Box> decodes =
                boxes(svg, STREAMING).stream().filter(box -> box.y() < 40).toList();
        assertThat(decodes.getFirst().x()).isCloseTo(34 + quarter, within(0.1));
        assertThat(decodes.getLast().end()).isCloseTo(34 + 2 * quarter, within(0.1));
    }

    @Test
    void kv_usage_is_that_of_each_step_and_zero_while_idle() {
        List<StepRecord> steps = new ArrayList<>(ENGINE.steps());
        steps.add(step(90, 100, false, 16));
        String svg = KvUsageChart.figure(run(new ShownRun.Engine(20, steps), List.of()), "")
                .map(Page::of)
                .orElse("");
        List<Double> heights = POINT.matcher(svg.substring(svg.indexOf("points=")))
                .results()
                .map(point -> Double.parseDouble(point.group(2)))
                .toList();
        double bottom = 250;
        double perBlock = (300 - 14 - 50) / 8.0;
        assertThat(svg).contains("KV blocks held by requests, of 20");
        assertThat(heights).hasSize(200);
        assertThat(heights.subList(0, 50)).containsOnly(bottom);
        assertThat(heights.subList(50, 100))
                .allSatisfy(y -> assertThat(y).isCloseTo(bottom - 8 * perBlock, within(0.1)));
        assertThat(heights.subList(101, 180)).containsOnly(bottom);
        assertThat(heights.subList(180, 200))
                .allSatisfy(y -> assertThat(y).isCloseTo(bottom - 4 * perBlock, within(0.1)));
    }

    @Test
    void run_without_steps_has_a_waterfall_but_no_kv_chart() {
        ShownRun run = run(ShownRun.Engine.UNKNOWN, List.of(request(0, 10, 30, 60, 100)));
        assertThat(KvUsageChart.figure(run, "")).isEmpty();
        assertThat(waterfall(run)).contains("<svg").doesNotContain("On top");
    }

    @Test
    void steps_and_admissions_are_read_from_a_run_s_file() {
        String file = """
                {"roseinfer":{"kind":"serve","settings":{"kv_blocks":10},"validity":{"valid":true},"requests":[
                  {"id":0,"due_ns":0,"sent_ns":0,"last_choice_ns":9000000,"event_ns":[8000000,9000000],"event_tokens":[1,1],"counted":"ids",
                   "server":{"admitted_ns":1000000},"error":null}],
                 "steps":{"columns":["free_blocks","start_nanos","device_nanos","prefill_tokens"],
                  "rows":[[10,1000000,7000000,4],[7,8000000,1000000,0]]}}}
                """;
        String page = HtmlReport.of(
                "r", HtmlReport.result("r.json", StrictJson.parse(file.getBytes(StandardCharsets.UTF_8))));
        assertThat(page)
                .contains("KV blocks held by requests, of 10", "Requests over the engine&#39;s steps", ">3</text>");
        assertThat(boxes(page, QUEUE))
                .singleElement()
                .satisfies(box -> assertThat(box.width()).isCloseTo((640 - 34 - 14) / 9.0, within(0.1)));
    }
}
