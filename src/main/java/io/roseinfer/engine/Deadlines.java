package io.roseinfer.engine;

import org.jspecify.annotations.Nullable;

/**
 * The requests that have a deadline, the earliest first: a pairing heap linked through the requests themselves, so that taking one in
 * and letting it go allocates nothing. Adding takes O(1), removing O(log n) amortized.
 */
final class Deadlines {
    private @Nullable LiveRequest first;

    /** The request with the earliest deadline. */
    @Nullable
    LiveRequest first() {
        return first;
    }

    void add(LiveRequest request) {
        request.isTimed = true;
        first = merge(first, request);
    }

    /** Takes a request out, wherever it is; harmless if it is not here. */
    void remove(LiveRequest request) {
        if (!request.isTimed) {
            return;
        }
        LiveRequest children = mergePairs(request.laterDue);
        if (request == first) {
            first = children;
        } else {
            detach(request);
            first = merge(first, children);
        }
        request.isTimed = false;
        request.laterDue = null;
        request.siblingDue = null;
        request.beforeDue = null;
    }

    private static void detach(LiveRequest request) {
        LiveRequest before = request.beforeDue;
        LiveRequest sibling = request.siblingDue;
        if (before != null && before.laterDue == request) {
            before.laterDue = sibling;
        } else if (before != null) {
            before.siblingDue = sibling;
        }
        if (sibling != null) {
            sibling.beforeDue = before;
        }
    }

    /** One heap of two roots; the later becomes the first child of the earlier. */
    private static @Nullable LiveRequest merge(@Nullable LiveRequest one, @Nullable LiveRequest other) {
        if (one == null || other == null) {
            return one == null ? other : one;
        }
        boolean inOrder = one.deadlineNanos() <= other.deadlineNanos();
        LiveRequest earlier = inOrder ? one : other;
        LiveRequest later = inOrder ? other : one;
        LiveRequest child = earlier.laterDue;
        later.beforeDue = earlier;
        later.siblingDue = child;
        if (child != null) {
            child.beforeDue = later;
        }
        earlier.laterDue = later;
        return earlier;
    }

    /** One heap of a list of siblings: merged in pairs from the left, the pairs from the right. */
    private static @Nullable LiveRequest mergePairs(@Nullable LiveRequest siblings) {
        LiveRequest pairs = null;
        LiveRequest next = siblings;
        while (next != null) {
            LiveRequest one = next;
            LiveRequest other = one.siblingDue;
            next = other == null ? null : other.siblingDue;
            alone(one);
            if (other != null) {
                alone(other);
            }
            LiveRequest pair = merge(one, other);
            if (pair != null) {
                pair.siblingDue = pairs;
                pairs = pair;
            }
        }
        LiveRequest whole = null;
        while (pairs != null) {
            LiveRequest rest = pairs.siblingDue;
            alone(pairs);
            whole = merge(whole, pairs);
            pairs = rest;
        }
        return whole;
    }

    private static void alone(LiveRequest request) {
        request.siblingDue = null;
        request.beforeDue = null;
    }
}
