package io.roseinfer.grammar;

import io.roseinfer.base.TokenMask;

/**
 * A mask as the union of shared masks and a list of ids, so that the masks of many states need little memory. Immutable.
 *
 * @param masks masks over all token ids, not to be changed
 * @param tokens further ids, not to be changed
 */
record MaskParts(TokenMask[] masks, int[] tokens) {
    /** Adds the second token of each pair with the same text if the first is allowed. */
    static void addTwins(TokenMask mask, int[] twins) {
        for (int i = 0; i < twins.length; i += 2) {
            if (mask.allows(twins[i])) {
                mask.allow(twins[i + 1]);
            }
        }
    }

    /** Makes another mask allow exactly these tokens. */
    void writeTo(TokenMask target) {
        if (masks.length == 0) {
            target.clear();
        } else {
            target.set(masks[0]);
        }
        for (int i = 1; i < masks.length; i++) {
            target.or(masks[i]);
        }
        for (int token : tokens) {
            target.allow(token);
        }
    }

    /** Returns the approximate size in bytes, without the shared masks. */
    long size() {
        return 64 + 8L * masks.length + 4L * tokens.length;
    }
}
