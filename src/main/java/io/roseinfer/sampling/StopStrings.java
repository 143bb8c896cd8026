package io.roseinfer.sampling;

import java.util.List;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/**
 * Lets a text that comes in pieces through up to where its first stop string begins. It holds back what may yet become a stop
 * string, and no more than that.
 */
public final class StopStrings {
    private final List<String> stops;
    private final StringBuilder open = new StringBuilder();
    private @Nullable String match;

    public StopStrings(List<String> stops) {
        this.stops = stops;
    }

    /** Whether a stop string has been seen; nothing changes any more then. */
    public boolean matched() {
        return match != null;
    }

    /** The stop string that has been seen: of several in one piece the one that is complete first; of those, the longest. */
    public Optional<String> match() {
        return Optional.ofNullable(match);
    }

    /**
     * Takes the next piece of text.
     *
     * @return the text that has become certain to stand before any stop string; nothing once one has been seen
     */
    public String push(String piece) {
        if (match != null) {
            return "";
        }
        open.append(piece);
        match = firstMatch();
        int closed = match == null ? open.length() - longestOpenPrefix() : open.indexOf(match);
        String certain = open.substring(0, closed);
        open.delete(0, closed);
        return certain;
    }

    /** The text held back, as it is let through if the text ends now with one more piece: up to a stop string in the two. */
    public String restIfEndedBy(String piece) {
        if (match != null) {
            return "";
        }
        int length = open.length();
        open.append(piece);
        String last = firstMatch();
        int cut = last == null ? open.length() : open.indexOf(last);
        String rest = open.substring(0, cut);
        open.setLength(length);
        return rest;
    }

    /** Returns the match that ends first, as if the text came character by character. */
    private @Nullable String firstMatch() {
        int firstEnd = Integer.MAX_VALUE;
        String found = null;
        for (String stop : stops) {
            int at = open.indexOf(stop);
            int end = at + stop.length();
            boolean isLonger = found == null || stop.length() > found.length();
            if (at >= 0 && (end < firstEnd || (end == firstEnd && isLonger))) {
                firstEnd = end;
                found = stop;
            }
        }
        return found;
    }

    /** Length of the longest suffix of the open text that begins some stop string. */
    private int longestOpenPrefix() {
        int longest = 0;
        for (String stop : stops) {
            int most = Math.min(stop.length() - 1, open.length());
            for (int length = most; length > longest; length--) {
                if (stop.regionMatches(0, open.substring(open.length() - length), 0, length)) {
                    longest = length;
                    break;
                }
            }
        }
        return longest;
    }
}
