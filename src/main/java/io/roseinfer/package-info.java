/**
 * The way in for research code: {@link io.roseinfer.Roseinfer} puts a model, a device and an engine together, as
 * {@link io.roseinfer.Settings} ask for them. The engine, its requests and its streams are in {@code io.roseinfer.engine}.
 */
@NullMarked
package io.roseinfer;

import org.jspecify.annotations.NullMarked;
