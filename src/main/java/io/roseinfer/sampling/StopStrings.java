package io.roseinfer.sampling;

import java.util.List;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/**
 * Holds back text that may turn out to be a stop string and cuts the text where one begins. Feeding the same pieces gives the
 * same cuts, so the engine (which must know when to stop) and a stream's reader (which must not see the stop string) each run
 * their own.
 */
public final class StopStrings {
    private final List<String> stops;
    private final StringBuilder held = new StringBuilder();
    private @Nullable String match;

    public StopStrings(List<String> stops) {
        this.stops = stops;
    }

    /** Whether a stop string has been seen; no more text comes out then. */
    public boolean matched() {
        return match != null;
    }

    /** The stop string that has been seen: of several in one piece the one that begins first. */
    public Optional<String> match() {
        return Optional.ofNullable(match);
    }

    /** Takes the next piece of text and returns what is now certain to stand before any stop string. */
    public String push(String piece) {
        if (match != null) {
            return "";
        }
        if (stops.isEmpty()) {
            return piece;
        }
        held.append(piece);
        int cut = findMatch();
        if (match != null) {
            String before = held.substring(0, cut);
            held.setLength(0);
            return before;
        }
        int certain = held.length() - longestOpenPrefix();
        String text = held.substring(0, certain);
        held.delete(0, certain);
        return text;
    }

    /** The text has ended: returns what was held back, which did not become a stop string. */
    public String flush() {
        String rest = held.toString();
        held.setLength(0);
        return rest;
    }

    private int findMatch() {
        int first = -1;
        for (String stop : stops) {
            int at = held.indexOf(stop);
            if (at >= 0 && (first < 0 || at < first)) {
                first = at;
                match = stop;
            }
        }
        return first;
    }

    /** Length of the longest suffix of the held text that begins some stop string. */
    private int longestOpenPrefix() {
        int longest = 0;
        for (String stop : stops) {
            int most = Math.min(stop.length() - 1, held.length());
            for (int length = most; length > longest; length--) {
                if (stop.regionMatches(0, held.substring(held.length() - length), 0, length)) {
                    longest = length;
                    break;
                }
            }
        }
        return longest;
    }
}
