/**
 * The part of Jinja that chat templates are written in, with Python's values: {@code Lexer} cuts a source into tokens and takes
 * away the whitespace that tags control, {@code Parser} and {@code ExpressionParser} make a tree of {@code Statement} and
 * {@code Expression} of them, and {@code Interpreter} with {@code Evaluator} walks that tree over {@code Value}s. {@code Filters},
 * {@code ListFilters}, {@code ValueTests}, {@code Methods} and {@code Globals} are tables of what a template can name; what is not
 * in them, or is no statement here, is refused when the template is parsed.
 *
 * <p>Invariants:
 * <ul>
 *   <li>What a template gives is what Jinja2 gives as {@code transformers} configures it. Tests hold this against what Jinja2 wrote.
 *   <li>A template is bounded: steps, depth, and the size of every text and list ({@code Budget}); what is added to a text costs its own
 *       length. An interrupt ends it. It reaches nothing but the
 *       values it was given: no reflection, no files, no clock.
 *   <li>A {@link io.roseinfer.tokenizer.chat.jinja.Template} is immutable; any thread may render with it at any time.
 * </ul>
 */
@NullMarked
package io.roseinfer.tokenizer.chat.jinja;

import org.jspecify.annotations.NullMarked;
