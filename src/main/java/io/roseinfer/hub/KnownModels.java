package io.roseinfer.hub;

import java.util.List;
import java.util.stream.Stream;

/**
 * Names that a reference to a model may use, in addition to paths and hub ids.
 *
 * @param randomShapes the names for {@code random:NAME}
 * @param movedIds models whose hub id has changed
 */
public record KnownModels(List<String> randomShapes, List<MovedId> movedIds) {

    /** A bare hub id that now has an owner: the hub redirects, but a cache may have either. */
    public record MovedId(String bare, String full) {}

    public KnownModels {
        randomShapes = List.copyOf(randomShapes);
        movedIds = List.copyOf(movedIds);
    }

    /** Returns the hub id of this text, with the other id of the same model if it has moved. */
    HubId hubId(String text) {
        return new HubId(
                text,
                movedIds.stream()
                        .filter(moved ->
                                moved.bare().equals(text) || moved.full().equals(text))
                        .flatMap(moved -> Stream.of(moved.bare(), moved.full()))
                        .filter(id -> !id.equals(text))
                        .findFirst());
    }
}
