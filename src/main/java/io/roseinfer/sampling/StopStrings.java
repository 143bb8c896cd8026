package io.roseinfer.sampling;

import java.util.List;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/**
 * Truncates streamed text before its first stop string. Text that may be the beginning of a stop string, and only that,
 * is held back.
 */
public final class StopStrings {
    private final List<String> stops;
    private final StringBuilder pending = new StringBuilder();
    private @Nullable String match;

    public StopStrings(List<String> stops) {
        this.stops = List.copyOf(stops);
    }

    /** Returns whether a stop string has been found; later text is ignored. */
    public boolean matched() {
        return match != null;
    }

    /**
     * Returns the stop string found. If a chunk completes several, it is the one completed first, and of those the
     * longest.
     */
    public Optional<String> match() {
        return Optional.ofNullable(match);
    }

    /**
     * Adds a chunk of text.
     *
     * @return text that is certain to precede any stop string; empty after one was found
     */
    public String push(String chunk) {
        if (match != null) {
            return "";
        }
        pending.append(chunk);
        match = firstMatch();
        int certainLength = match == null ? pending.length() - longestPartialMatch() : pending.indexOf(match);
        String certain = pending.substring(0, certainLength);
        pending.delete(0, certainLength);
        return certain;
    }

    /**
     * Returns the text that would still be output if {@code chunk} ended the text: what is held back and the chunk, up
     * to a stop string in them. Does not change any state.
     */
    public String remainderWith(String chunk) {
        if (match != null) {
            return "";
        }
        int length = pending.length();
        pending.append(chunk);
        String last = firstMatch();
        int end = last == null ? pending.length() : pending.indexOf(last);
        String rest = pending.substring(0, end);
        pending.setLength(length);
        return rest;
    }

    /** Returns the match that is completed first, as if the text came character by character. */
    private @Nullable String firstMatch() {
        int firstEnd = Integer.MAX_VALUE;
        String found = null;
        for (String stop : stops) {
            int at = pending.indexOf(stop);
            int end = at + stop.length();
            boolean isLonger = found == null || stop.length() > found.length();
            if (at >= 0 && (end < firstEnd || (end == firstEnd && isLonger))) {
                firstEnd = end;
                found = stop;
            }
        }
        return found;
    }

    /** Returns the length of the longest suffix of the held-back text that is a proper prefix of a stop string. */
    private int longestPartialMatch() {
        int longest = 0;
        for (String stop : stops) {
            int maxLength = Math.min(stop.length() - 1, pending.length());
            for (int length = maxLength; length > longest; length--) {
                if (stop.regionMatches(0, pending.substring(pending.length() - length), 0, length)) {
                    longest = length;
                    break;
                }
            }
        }
        return longest;
    }
}
