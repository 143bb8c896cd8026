/**
 * The way in for research code: {@link io.roseinfer.Roseinfer} puts a model, a device and an engine together. What it hands out
 * is in {@code io.roseinfer.engine}.
 */
@NullMarked
package io.roseinfer;

import org.jspecify.annotations.NullMarked;
