package io.roseinfer.engine;

import org.jspecify.annotations.Nullable;

/**
 * A doubly linked list through the requests themselves, so that taking one in and letting it go allocates nothing: a request is in
 * one list at most, and leaves it in O(1).
 */
final class RequestList {
    private @Nullable LiveRequest first;
    private @Nullable LiveRequest last;

    boolean isEmpty() {
        return first == null;
    }

    @Nullable
    LiveRequest first() {
        return first;
    }

    boolean contains(LiveRequest request) {
        return request.list == this;
    }

    void addLast(LiveRequest request) {
        request.list = this;
        request.previous = last;
        if (last == null) {
            first = request;
        } else {
            last.next = request;
        }
        last = request;
    }

    void addFirst(LiveRequest request) {
        request.list = this;
        request.next = first;
        if (first == null) {
            last = request;
        } else {
            first.previous = request;
        }
        first = request;
    }

    /** Takes a request out; harmless if it is not in this list. */
    void remove(LiveRequest request) {
        if (request.list != this) {
            return;
        }
        if (request.previous == null) {
            first = request.next;
        } else {
            request.previous.next = request.next;
        }
        if (request.next == null) {
            last = request.previous;
        } else {
            request.next.previous = request.previous;
        }
        request.list = null;
        request.previous = null;
        request.next = null;
    }
}
