package io.roseinfer.tokenizer.chat.reply;

import io.roseinfer.tokenizer.chat.reply.CallReader.Status;
import java.util.ArrayList;
import java.util.List;

/**
 * Splits a reply into reasoning, content and tool calls while it is generated. Text that may be the start of a marker,
 * and white space that may precede one, is held back. A call starts with its arguments; the text of a malformed call that is
 * not yet part of one, and everything after it, is content. The parts do not depend on how the text is cut. One instance
 * per reply; not thread-safe.
 */
public final class ReplyParser {
    /** The part of the reply that the next character belongs to. */
    private enum Part {
        /** Before the reasoning, or the content if there is none. */
        START,
        REASONING,
        /** White space before the content. */
        CONTENT_START,
        CONTENT,
        /** White space before a list of calls. */
        LIST,
        /** White space before a call. */
        CALL_START,
        CALL,
        /** After a call: its end marker, or a separator. */
        CALL_END,
        /** Content up to the end. */
        REST
    }

    private final ReplyFormat format;
    private final ToolCallFormat calls;
    private final Deltas deltas;
    private Part part;
    /** Text that is not yet certain. */
    private final StringBuilder held = new StringBuilder();
    /** The number of white space characters at the start of {@link #held}, before the reasoning. */
    private int blanks;

    private boolean hasReasoned;
    private boolean reasoningIsEmpty = true;
    /** The text since the last certain delta of a call, which is content if the call is malformed. */
    private final StringBuilder rawCall = new StringBuilder();

    private CallReader call = new JsonCall();
    private int completeCalls;
    /** Whether only white space, and perhaps the start of a marker, follows the last call. */
    private boolean betweenCalls;

    private boolean callStarted;
    /** The number of characters read of a call's end marker. */
    private int endRead;

    /** Creates a parser for one reply. */
    public ReplyParser(ReplyFormat format) {
        this.format = format;
        this.calls = format.calls();
        this.deltas = new Deltas(format.omitReasoning());
        this.part = format.reasoning() == ReasoningFormat.NONE ? contentStart() : Part.START;
    }

    private Part contentStart() {
        return calls == ToolCallFormat.NONE && !hasReasoned ? Part.REST : Part.CONTENT_START;
    }

    /** Takes more text. */
    public void accept(String text) {
        if (part == Part.REST) {
            deltas.content(text);
            return;
        }
        for (int i = 0; i < text.length(); i++) {
            accept(text.charAt(i));
        }
    }

    /** Returns the deltas since the last call; adjacent text of one part is one delta. */
    public List<ReplyDelta> take() {
        return deltas.take();
    }

    /**
     * Ends the reply: text held back becomes certain. A call without arguments is content, or dropped after complete
     * ones.
     */
    public void end() {
        boolean dropped = completeCalls > 0 || hasReasoned;
        switch (part) {
            case START, REST -> deltas.content(held.toString());
            case CONTENT_START, CONTENT -> {
                if (!betweenCalls) {
                    deltas.content(dropped ? held.toString().stripTrailing() : held.toString());
                }
            }
            case REASONING -> deltas.reasoning(held.toString().stripTrailing());
            case LIST, CALL_START, CALL -> {
                if (completeCalls == 0) {
                    malformedCall();
                }
            }
            case CALL_END -> {}
        }
        held.setLength(0);
        part = Part.REST;
    }

    /** Returns whether the text so far ends within the reasoning. */
    public boolean isReasoning() {
        return part == Part.REASONING;
    }

    /** Returns whether a call has started. */
    public boolean hasCalls() {
        return completeCalls > 0 || callStarted;
    }

    /** Returns the number of complete calls that are part of the reply. */
    public int calls() {
        return format.oneCall() ? Math.min(1, completeCalls) : completeCalls;
    }

    private void accept(char next) {
        switch (part) {
            case START -> start(next);
            case REASONING -> inReasoning(next);
            case CONTENT_START -> contentStart(next);
            case CONTENT -> inContent(next);
            case LIST -> list(next);
            case CALL_START -> callStart(next);
            case CALL -> inCall(next);
            case CALL_END -> callEnd(next);
            case REST -> deltas.content(String.valueOf(next));
        }
    }

    private void start(char next) {
        held.append(next);
        if (blanks == held.length() - 1 && Character.isWhitespace(next)) {
            blanks++;
            return;
        }
        String text = held.substring(blanks);
        if (text.equals(ReasoningFormat.BEGIN)) {
            held.setLength(0);
            part = Part.REASONING;
        } else if (!ReasoningFormat.BEGIN.startsWith(text)) {
            part = format.inReasoning() ? Part.REASONING : contentStart();
            accept(takeHeld());
        }
    }

    private String takeHeld() {
        String text = held.toString();
        held.setLength(0);
        return text;
    }

    private void inReasoning(char next) {
        if (reasoningIsEmpty && held.isEmpty() && Character.isWhitespace(next)) {
            return;
        }
        held.append(next);
        if (endsWith(held, ReasoningFormat.END)) {
            held.setLength(held.length() - ReasoningFormat.END.length());
            deltas.reasoning(takeHeld().stripTrailing());
            hasReasoned = true;
            part = Part.CONTENT_START;
        } else {
            String certain = takeCertain(next, ReasoningFormat.END);
            reasoningIsEmpty &= certain.isEmpty();
            deltas.reasoning(certain);
        }
    }

    private static boolean endsWith(StringBuilder text, String end) {
        int from = text.length() - end.length();
        return from >= 0 && text.indexOf(end, from) == from;
    }

    /** Takes the held text except white space at its end and what may be the start of a marker. */
    private String takeCertain(char last, String marker) {
        if (Character.isWhitespace(last)) {
            return "";
        }
        int end = held.length();
        for (int length = Math.min(marker.length() - 1, end); length > 0; length--) {
            if (marker.startsWith(held.substring(end - length))) {
                end -= length;
                break;
            }
        }
        while (end > 0 && Character.isWhitespace(held.charAt(end - 1))) {
            end--;
        }
        String certain = held.substring(0, end);
        held.delete(0, end);
        return certain;
    }

    private void contentStart(char next) {
        if (Character.isWhitespace(next)) {
            held.append(next);
            return;
        }
        if (hasReasoned) {
            held.setLength(0);
        }
        if (calls.callsAtStart() && next == calls.firstChar()) {
            rawCall.append(takeHeld());
            part = calls.isList() ? Part.LIST : Part.CALL_START;
        } else {
            part = calls == ToolCallFormat.NONE ? Part.REST : Part.CONTENT;
            deltas.content(part == Part.REST ? takeHeld() : "");
        }
        accept(next);
    }

    private void inContent(char next) {
        held.append(next);
        String trigger = calls.trigger();
        if (trigger.isEmpty() || !endsWith(held, trigger)) {
            String certain = takeCertain(next, trigger);
            betweenCalls &= certain.isEmpty();
            deltas.content(certain);
            return;
        }
        String before = held.substring(0, held.length() - trigger.length()).stripTrailing();
        deltas.content(before);
        rawCall.append(held, before.length(), held.length());
        held.setLength(0);
        part = calls.isList() ? Part.LIST : Part.CALL_START;
    }

    private void list(char next) {
        rawCall.append(next);
        if (next == calls.firstChar()) {
            part = Part.CALL_START;
        } else if (!Character.isWhitespace(next)) {
            malformedCall();
        }
    }

    private void callStart(char next) {
        if (Character.isWhitespace(next)) {
            rawCall.append(next);
            return;
        }
        call = switch (calls) {
            case PYTHONIC -> new PythonCall();
            case MISTRAL_ARGS -> new NamedCall();
            default -> new JsonCall();
        };
        callStarted = false;
        part = Part.CALL;
        inCall(next);
    }

    private void inCall(char next) {
        rawCall.append(next);
        Status status = call.accept(next);
        if (status == Status.MALFORMED) {
            malformedCall();
            return;
        }
        // A call starts when its arguments do: without them it is malformed.
        String arguments = call.name().isPresent() ? call.takeArguments() : "";
        if (!arguments.isEmpty()) {
            if (!callStarted) {
                callStarted = true;
                start(call.name().orElseThrow());
            }
            arguments(arguments);
        }
        if (callStarted) {
            rawCall.setLength(0);
        }
        if (status == Status.COMPLETE) {
            completeCalls++;
            endRead = 0;
            part = Part.CALL_END;
        }
    }

    private void start(String name) {
        if (!isDropped()) {
            deltas.start(completeCalls, name);
        }
    }

    private void arguments(String text) {
        if (!isDropped()) {
            deltas.arguments(completeCalls, text);
        }
    }

    private boolean isDropped() {
        return format.oneCall() && completeCalls > 0;
    }

    private void callEnd(char next) {
        rawCall.append(next);
        String end = calls.end();
        if (end.isEmpty() ? Character.isWhitespace(next) : endRead == 0 && Character.isWhitespace(next)) {
            return;
        }
        if (!end.isEmpty()) {
            if (next != end.charAt(endRead)) {
                malformedCall();
            } else if (++endRead == end.length()) {
                endCalls();
            }
        } else if (calls.separates(next)) {
            part = Part.CALL_START;
        } else if (calls.isList() && next != ']') {
            malformedCall();
        } else {
            String after = calls.isList() ? "" : rawCall.toString();
            endCalls();
            accept(after);
        }
    }

    private void endCalls() {
        rawCall.setLength(0);
        betweenCalls = true;
        part = Part.CONTENT;
    }

    private void malformedCall() {
        part = Part.REST;
        deltas.content(rawCall.toString());
        rawCall.setLength(0);
    }

    /** Collects deltas and joins adjacent text of one part. */
    private static final class Deltas {
        private final boolean omitReasoning;
        private final List<ReplyDelta> complete = new ArrayList<>();
        private final StringBuilder text = new StringBuilder();
        private Kind kind = Kind.NONE;
        private int call;

        private enum Kind {
            NONE,
            REASONING,
            CONTENT,
            ARGUMENTS
        }

        Deltas(boolean omitReasoning) {
            this.omitReasoning = omitReasoning;
        }

        void reasoning(String more) {
            append(Kind.REASONING, omitReasoning ? "" : more);
        }

        void content(String more) {
            append(Kind.CONTENT, more);
        }

        void start(int index, String name) {
            finish();
            complete.add(new ReplyDelta.CallStart(index, name));
        }

        void arguments(int index, String more) {
            append(Kind.ARGUMENTS, more);
            call = index;
        }

        private void append(Kind of, String more) {
            if (more.isEmpty()) {
                return;
            }
            if (kind != of) {
                finish();
                kind = of;
            }
            text.append(more);
        }

        private void finish() {
            String joined = text.toString();
            switch (kind) {
                case NONE -> {}
                case REASONING -> complete.add(new ReplyDelta.Reasoning(joined));
                case CONTENT -> complete.add(new ReplyDelta.Content(joined));
                case ARGUMENTS -> complete.add(new ReplyDelta.CallArguments(call, joined));
            }
            kind = Kind.NONE;
            text.setLength(0);
        }

        List<ReplyDelta> take() {
            finish();
            List<ReplyDelta> taken = List.copyOf(complete);
            complete.clear();
            return taken;
        }
    }
}
