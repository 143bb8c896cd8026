package io.roseinfer.sampling;

import java.util.List;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/**
 * Finds where the first stop string begins in a text that comes in pieces. Positions count characters from the beginning of the
 * text; only what may yet become a stop string is kept. It says nothing of the text itself, which is for who shows it to cut.
 */
public final class StopStrings {
    private final List<String> stops;
    private final StringBuilder open = new StringBuilder();
    private int certain;
    private @Nullable String match;

    public StopStrings(List<String> stops) {
        this.stops = stops;
    }

    /** Whether a stop string has been seen; nothing changes any more then. */
    public boolean matched() {
        return match != null;
    }

    /** The stop string that has been seen: of several in one piece the one that begins first. */
    public Optional<String> match() {
        return Optional.ofNullable(match);
    }

    /** How many characters are certain to stand before any stop string: where the text is cut once one has been seen. */
    public int certain() {
        return certain;
    }

    /** Takes the next piece of text. */
    public void push(String piece) {
        if (match != null) {
            return;
        }
        open.append(piece);
        match = firstMatch();
        int closed = match == null ? open.length() - longestOpenPrefix() : open.indexOf(match);
        open.delete(0, closed);
        certain += closed;
    }

    /** Where the text is to be cut if it ends now with one more piece: its length if there is no stop string in it. */
    public int cutIfEndedBy(String piece) {
        if (match != null) {
            return certain;
        }
        int length = open.length();
        open.append(piece);
        String last = firstMatch();
        int cut = last == null ? open.length() : open.indexOf(last);
        open.setLength(length);
        return certain + cut;
    }

    private @Nullable String firstMatch() {
        int first = Integer.MAX_VALUE;
        String found = null;
        for (String stop : stops) {
            int at = open.indexOf(stop);
            if (at >= 0 && at < first) {
                first = at;
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
