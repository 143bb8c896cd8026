/**
 * Checkpoints: safetensors (one file, shards, zstd) read into a validated {@link io.roseinfer.format.WeightSource}, and the
 * Hugging Face cache and hub that supply them.
 */
@NullMarked
package io.roseinfer.format;

import org.jspecify.annotations.NullMarked;
