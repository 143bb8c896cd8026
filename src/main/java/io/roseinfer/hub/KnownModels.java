package io.roseinfer.hub;

import java.util.List;
import java.util.stream.Stream;

/**
 * The names that a reference to a model may be beyond a path and a hub id as it is spelt.
 *
 * @param randomShapes the names that {@code random:NAME} knows
 * @param movedIds models whose hub id has changed
 */
public record KnownModels(List<String> randomShapes, List<MovedId> movedIds) {

    /** A bare hub id that lives on under an owner: the hub redirects, but a cache may hold either. */
    public record MovedId(String bare, String full) {}

    public KnownModels {
        randomShapes = List.copyOf(randomShapes);
        movedIds = List.copyOf(movedIds);
    }

    /** The hub id of this spelling, with the other one of the same model if it has moved. */
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
