package io.roseinfer.observe;

import io.roseinfer.metrics.RequestTimeline;
import io.roseinfer.metrics.StepRecord;
import io.roseinfer.metrics.StepRecord.Fact;
import io.roseinfer.scheduler.FinishReason;
import java.util.ArrayList;
import java.util.IdentityHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import jdk.jfr.AnnotationElement;
import jdk.jfr.Category;
import jdk.jfr.Description;
import jdk.jfr.Event;
import jdk.jfr.EventFactory;
import jdk.jfr.EventType;
import jdk.jfr.FlightRecorder;
import jdk.jfr.Label;
import jdk.jfr.Name;
import jdk.jfr.StackTrace;
import jdk.jfr.Timespan;
import jdk.jfr.ValueDescriptor;
import org.jspecify.annotations.Nullable;

/**
 * Records steps and requests as JDK Flight Recorder events, {@code roseinfer.Step} and {@code roseinfer.Request}. Steps
 * and requests that began before the recording are left out. While no recording enables the events, nothing is
 * allocated.
 */
public final class JfrRecorder implements StepObserver, RequestObserver {
    /**
     * The event type of steps, with a field per fact. Loaded lazily, so that it is registered only with an active
     * recorder.
     */
    private static final class StepEvents {
        private static final List<Fact> FACTS = facts();
        private static final EventFactory FACTORY = EventFactory.create(
                List.of(
                        new AnnotationElement(Name.class, "roseinfer.Step"),
                        new AnnotationElement(Label.class, "Step"),
                        new AnnotationElement(Category.class, new String[] {"roseinfer"}),
                        new AnnotationElement(
                                Description.class, "A step of the engine, from planning until its tokens were applied"),
                        new AnnotationElement(StackTrace.class, false)),
                FACTS.stream().map(StepEvents::field).toList());
        private static final EventType TYPE = FACTORY.getEventType();

        /** Returns all facts but the start time, which every event has. */
        private static List<Fact> facts() {
            List<Fact> facts = new ArrayList<>(List.of(Fact.values()));
            facts.remove(Fact.START_NANOS);
            return List.copyOf(facts);
        }

        private static ValueDescriptor field(Fact fact) {
            AnnotationElement label = new AnnotationElement(Label.class, fact.label());
            List<AnnotationElement> annotations = fact.isDuration()
                    ? List.of(label, new AnnotationElement(Timespan.class, Timespan.NANOSECONDS))
                    : List.of(label);
            return new ValueDescriptor(long.class, camelCase(fact.key()), annotations);
        }

        private static String camelCase(String key) {
            StringBuilder name = new StringBuilder();
            for (String word : key.split("_", -1)) {
                name.append(
                                name.isEmpty()
                                        ? word.substring(0, 1)
                                        : word.substring(0, 1).toUpperCase(Locale.ROOT))
                        .append(word.substring(1));
            }
            return name.toString();
        }

        private static void commit(Event event, StepRecord step) {
            event.end();
            if (event.shouldCommit()) {
                for (int i = 0; i < FACTS.size(); i++) {
                    event.set(i, step.get(FACTS.get(i)));
                }
                event.commit();
            }
        }
    }

    /** A request event. Its duration is the sum of tokenizing, queue, prefill and decode. */
    @Name("roseinfer.Request")
    @Label("Request")
    @Category("roseinfer")
    @Description("A request, from acceptance to its end")
    @StackTrace(false)
    static final class RequestSpan extends Event {
        private static final RequestSpan PROBE = new RequestSpan();

        @Label("Request")
        long request;

        @Label("Prompt Tokens")
        int promptTokens;

        @Label("Cached Tokens")
        @Description("Tokens of the prompt that were found in the prefix cache")
        int cachedTokens;

        @Label("Completion Tokens")
        int completionTokens;

        @Label("Queue")
        @Description("From tokenized to admitted")
        @Timespan(Timespan.NANOSECONDS)
        long queueNanos;

        @Label("Prefill")
        @Description("From admitted to the first token")
        @Timespan(Timespan.NANOSECONDS)
        long prefillNanos;

        @Label("Decode")
        @Description("From the first token to the end")
        @Timespan(Timespan.NANOSECONDS)
        long decodeNanos;

        @Label("Finish Reason")
        @Nullable
        String finishReason;

        private void fill(ObservedRequest ended, FinishReason reason) {
            RequestTimeline timeline = ended.timeline();
            long[] tokens = timeline.tokenNanos();
            long firstToken = tokens.length == 0 ? timeline.finishedNanos() : tokens[0];
            request = ended.id();
            promptTokens = ended.promptTokens();
            cachedTokens = ended.cachedTokens();
            completionTokens = tokens.length;
            if (promptTokens > 0) {
                queueNanos = timeline.admittedNanos() - timeline.tokenizedNanos();
                prefillNanos = firstToken - timeline.admittedNanos();
                decodeNanos = timeline.finishedNanos() - firstToken;
            }
            finishReason = reason.text();
        }
    }

    private final IdentityHashMap<StepRecord, Event> steps = new IdentityHashMap<>();
    private final Map<ObservedRequest, RequestSpan> requests = new ConcurrentHashMap<>();

    /** Returns recorders of an engine's requests and of the steps of each of its replicas. */
    public static Observers observers() {
        return Observers.ofRequests(new JfrRecorder()).and(Observers.ofStepsOfEach(replica -> new JfrRecorder()));
    }

    @Override
    public void on(StepEvent event, StepRecord step) {
        switch (event) {
            case PLANNING -> begin(step);
            case IDLE -> steps.remove(step);
            case APPLIED -> commit(step);
            default -> {}
        }
    }

    private void begin(StepRecord step) {
        if (FlightRecorder.isInitialized() && StepEvents.TYPE.isEnabled()) {
            Event event = StepEvents.FACTORY.newEvent();
            event.begin();
            steps.put(step, event);
        }
    }

    private void commit(StepRecord step) {
        Event event = steps.remove(step);
        if (event != null) {
            StepEvents.commit(event, step);
        }
    }

    @Override
    public void on(RequestEvent event) {
        switch (event) {
            case RequestEvent.Accepted(ObservedRequest request) -> begin(request);
            case RequestEvent.Withdrawn(ObservedRequest request) -> requests.remove(request);
            case RequestEvent.Ended(ObservedRequest request, FinishReason reason) -> commit(request, reason);
            default -> {}
        }
    }

    private void begin(ObservedRequest request) {
        if (FlightRecorder.isInitialized() && RequestSpan.PROBE.isEnabled()) {
            RequestSpan span = new RequestSpan();
            span.begin();
            requests.put(request, span);
        }
    }

    private void commit(ObservedRequest request, FinishReason reason) {
        RequestSpan span = requests.remove(request);
        if (span == null) {
            return;
        }
        span.end();
        if (span.shouldCommit()) {
            span.fill(request, reason);
            span.commit();
        }
    }
}
