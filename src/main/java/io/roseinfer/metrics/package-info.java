/**
 * Numbers about requests and steps: a request's time stamps, percentiles, summaries. No clock is read here; stamps are handed
 * in.
 */
@NullMarked
package io.roseinfer.metrics;

import org.jspecify.annotations.NullMarked;
