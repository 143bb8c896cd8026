package io.roseinfer.spark;

import org.apache.spark.ml.Transformer;

/** Holds a transformer's uid, which parameters need before the constructor of the class that has them has run. */
abstract class UidTransformer extends Transformer {
    private static final long serialVersionUID = 1;

    private final String uid;

    UidTransformer(String uid) {
        this.uid = uid;
    }

    @Override
    public final String uid() {
        return uid;
    }
}
