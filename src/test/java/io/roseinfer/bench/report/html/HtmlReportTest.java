package io.roseinfer.bench.report.html;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.within;

import io.roseinfer.base.RoseException.BadInput;
import io.roseinfer.metrics.TokenTimes;
import java.io.IOException;
import java.io.OutputStream;
import java.io.StringReader;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.stream.IntStream;
import java.util.zip.GZIPOutputStream;
import javax.xml.parsers.DocumentBuilderFactory;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.w3c.dom.Document;
import org.w3c.dom.Element;
import org.w3c.dom.NodeList;
import org.xml.sax.InputSource;

class HtmlReportTest {
    @TempDir
    private Path directory;

    /** A result with two timed requests, a failed one, and text that must be escaped. */
    private static String serve(boolean valid) {
        String reasons = valid ? "" : "\"late by <1> & \\\"more\\\"\"";
        return """
                {"date":"2026-01-01T00:00:00Z","duration":2.0,"request_throughput":1.0,"output_throughput":3.5,
                 "roseinfer":{"kind":"serve","command":["bench","serve","--model","<script>alert(1)</script>"],
                  "settings":{"base_url":"http://127.0.0.1:8000","seed":0},"environment":{"jdk":"25","gpu":null},
                  "validity":{"valid":%b,"reasons":[%s],"notes":["a note"]},
                  "load":{"scheduled_rate":1.5,"achieved_rate":"inf"},
                  "dispatch_lag_ms":{"p50":0.01,"p99":0.02},"floor":{"token_events_s":100000.0},
                  "requests":[
                   {"id":0,"due_ns":0,"sent_ns":1000000,"last_choice_ns":61000000,"event_ns":[11000000,21000000,61000000],
                    "event_tokens":[1,1,4],"counted":"ids","error":null},
                   {"id":1,"due_ns":5000000,"sent_ns":5000000,"last_choice_ns":35000000,"event_ns":[35000000],"event_tokens":[1],"counted":"ids",
                    "error":null},
                   {"id":2,"due_ns":6000000,"sent_ns":6000000,"last_choice_ns":0,"event_ns":[],"event_tokens":[],"counted":"not","error":"cut"}]}}
                """.formatted(valid, reasons);
    }

    private static final String STREAMING = """
            {"settings":{"model":"m"},"environment":{"jdk":"25"},"runs":[
             {"summary":{"throughput_tok_s":9.0},"rejected":0,"requests":[
              {"id":0,"submit_start_ns":0,"token_ns":[2000000,3000000],"finish_ns":3100000}]},
             {"summary":{"throughput_tok_s":8.0},"rejected":2,"requests":[
              {"id":0,"submit_start_ns":0,"token_ns":[4000000],"finish_ns":4100000}]}]}
            """;

    private Path file(String name, String text) throws IOException {
        return Files.writeString(directory.resolve(name), text);
    }

    private static Document parse(String page) throws Exception {
        assertThat(page).startsWith("<!DOCTYPE html>\n");
        return DocumentBuilderFactory.newInstance()
                .newDocumentBuilder()
                .parse(new InputSource(new StringReader(page.substring("<!DOCTYPE html>\n".length()))));
    }

    private static List<Element> elements(Document page, String name) {
        NodeList found = page.getElementsByTagName(name);
        List<Element> elements = new ArrayList<>();
        for (int i = 0; i < found.getLength(); i++) {
            elements.add((Element) found.item(i));
        }
        return elements;
    }

    @Test
    void report_parses_and_has_no_external_references() throws Exception {
        String page = HtmlReport.of(List.of(file("a.json", serve(true)), file("b.json", STREAMING)));
        Document parsed = parse(page);
        assertThat(elements(parsed, "*")).hasSizeGreaterThan(100).allSatisfy(element -> {
            assertThat(element.getTagName())
                    .isNotIn("script", "link", "img", "iframe", "object", "embed", "image", "use", "base");
            for (String attribute : List.of("src", "href", "xlink:href", "srcset", "action", "onload", "style")) {
                assertThat(element.hasAttribute(attribute)).as(attribute).isFalse();
            }
        });
        assertThat(Page.style()).doesNotContain("url(", "@import", "//");
    }

    @Test
    void text_from_a_file_is_escaped() throws Exception {
        Document page = parse(HtmlReport.of(List.of(file("a<b>&.json", serve(false)))));
        assertThat(page.getDocumentElement().getTextContent())
                .contains("--model '<script>alert(1)</script>'", "late by <1> & \"more\"", "a<b>&");
    }

    @Test
    void report_of_an_invalid_run_starts_with_the_verdict() throws Exception {
        Document page = parse(HtmlReport.of(List.of(file("a.json", serve(false)))));
        Element first = elements(page, "section").getFirst();
        assertThat(first.getAttribute("class")).isEqualTo("verdict bad");
        assertThat(first.getTextContent())
                .contains("2 requests, 1 more failed", "The run is invalid.", "late by", "a note");
    }

    @Test
    void report_of_a_valid_run_has_no_invalid_verdict() throws Exception {
        Document page = parse(HtmlReport.of(List.of(file("a.json", serve(true)))));
        assertThat(elements(page, "section").getFirst().getTextContent())
                .contains("The run is valid.")
                .doesNotContain("invalid");
    }

    /** Eight tokens in two events 70 ms apart, so 10 ms each; the second server reports no token count. */
    @Test
    void events_without_a_count_use_the_tokens_of_usage() throws Exception {
        String request = "{\"id\":0,\"due_ns\":0,\"sent_ns\":0,\"last_choice_ns\":80000000,"
                + "\"event_ns\":[10000000,80000000],\"event_tokens\":[],\"counted\":\"not\",\"usage\":[5,%d,-1,-1],\"error\":null}";
        String run = "{\"roseinfer\":{\"kind\":\"serve\",\"validity\":{\"valid\":true},\"requests\":[%s]}}";
        Document counted = parse(HtmlReport.of(List.of(file("a.json", run.formatted(request.formatted(8))))));
        assertThat(elements(counted, "tr").stream().map(row -> cells(row))).anyMatch(row -> row.startsWith("TPOT|10|"));
        Document uncounted = parse(HtmlReport.of(List.of(file("b.json", run.formatted(request.formatted(-1))))));
        assertThat(elements(uncounted, "tr").stream().map(row -> cells(row)))
                .anyMatch(row -> row.startsWith("TPOT|–|"));
    }

    /** TTFT 10 and 30 ms; gaps of 10 and four of 10; TPOT 50 / 5; latencies 60 and 30. */
    @Test
    void latencies_equal_those_of_the_raw_timestamps() throws Exception {
        Document page = parse(HtmlReport.of(List.of(file("a.json", serve(true)))));
        List<String> rows = elements(page, "tr").stream().map(row -> cells(row)).toList();
        assertThat(rows)
                .contains(
                        "TTFT|20|29|29.8|20|30|2",
                        "TTFT, scheduled|20.5|29.1|29.8|20.5|30|2",
                        "TPOT|10|10|10|10|10|1",
                        "ITL|10|10|10|10|10|5",
                        "Latency|45|58.5|59.7|45|60|2");
    }

    private static String cells(Element row) {
        List<String> cells = new ArrayList<>();
        for (int i = 0; i < row.getChildNodes().getLength(); i++) {
            cells.add(row.getChildNodes().item(i).getTextContent());
        }
        return String.join("|", cells);
    }

    @Test
    void each_distribution_has_one_line_per_run() throws Exception {
        Document page = parse(HtmlReport.of(List.of(file("a.json", serve(true)), file("b.json", STREAMING))));
        assertThat(elements(page, "figure")
                        .getFirst()
                        .getElementsByTagName("polyline")
                        .getLength())
                .isEqualTo(3);
        assertThat(elements(page, "section").stream().map(Element::getTextContent))
                .anySatisfy(text -> assertThat(text).startsWith("b run 2: 1 requests, 2 more failed"));
    }

    @ParameterizedTest
    @ValueSource(strings = {"Tokens per second", "Requests in flight"})
    void charts_over_time_have_the_same_axes(String title) throws Exception {
        Document page = parse(HtmlReport.of(List.of(file("a.json", serve(true)), file("b.json", STREAMING))));
        List<List<String>> ticks = elements(page, "figure").stream()
                .filter(figure -> figure.getTextContent().startsWith(title))
                .map(HtmlReportTest::ticks)
                .toList();
        assertThat(ticks).hasSize(3);
        assertThat(ticks.getFirst()).hasSizeGreaterThan(4);
        assertThat(ticks).containsOnly(ticks.getFirst());
    }

    private static List<String> ticks(Element figure) {
        NodeList texts = figure.getElementsByTagName("text");
        return IntStream.range(0, texts.getLength())
                .mapToObj(i -> (Element) texts.item(i))
                .filter(text -> text.getAttribute("class").equals("tick"))
                .map(Element::getTextContent)
                .toList();
    }

    @Test
    void compressed_results_are_read_as_well() throws Exception {
        Path packed = directory.resolve("a.json.gz");
        try (OutputStream out = new GZIPOutputStream(Files.newOutputStream(packed))) {
            out.write(serve(true).getBytes(StandardCharsets.UTF_8));
        }
        assertThat(elements(parse(HtmlReport.of(List.of(packed))), "section")).hasSize(1);
    }

    @ParameterizedTest
    @ValueSource(strings = {"{}", "[]", "{\"runs\":[{}]}", "not JSON", ""})
    void file_that_is_not_a_result_is_rejected_by_name(String text) throws IOException {
        Path file = file("x.json", text);
        assertThatThrownBy(() -> HtmlReport.of(List.of(file)))
                .isInstanceOf(BadInput.class)
                .hasMessageContaining("x.json");
    }

    @Test
    void ticks_are_round_and_cover_the_axis() {
        assertThat(Axis.even(7.3)).containsExactly(0.0, 2.0, 4.0, 6.0);
        assertThat(Axis.even(1000)).containsExactly(0.0, 200.0, 400.0, 600.0, 800.0, 1000.0);
        assertThat(Axis.even(0.03).getLast()).isCloseTo(0.03, within(1e-9));
    }

    @Test
    void request_bars_follow_the_timestamps() {
        ShownRun.Request request = new ShownRun.Request(
                0, 0, OptionalLong.empty(), 1_000_000_000, TokenTimes.oneByOne(500_000_000, 999_000_000));
        TimeSeries course = TimeSeries.of(new ShownRun(
                "a",
                Optional.empty(),
                List.of(request),
                0,
                ShownRun.Engine.UNKNOWN,
                Map.of(),
                Map.of(),
                Optional.empty()));
        assertThat(course.waiting().subList(0, 50)).containsOnly(1.0);
        assertThat(course.waiting().subList(50, 100)).containsOnly(0.0);
        assertThat(course.streaming().subList(50, 100)).containsOnly(1.0);
        assertThat(course.tokensPerSecond().stream()
                        .mapToDouble(rate -> rate * 0.01)
                        .sum())
                .isCloseTo(2, within(1e-9));
    }
}
