/**
 * Chat templates: a conversation to the text of a prompt, by the template that a model brings. {@code ChatTemplates} finds it in a
 * model's files, {@link io.roseinfer.tokenizer.chat.ChatTemplate} writes a {@link io.roseinfer.tokenizer.chat.Conversation} with it,
 * and {@code tokenizer.chat.jinja} is the language it is written in.
 *
 * <p>Why not jinjava: it gives what Jinja2 gives in 36 of 55 cases, and where it cannot it goes on with an empty text and a list of
 * errors beside it. Why not hfjinja: it is a port of a JavaScript library with JavaScript's values, on purpose not Python's, and
 * models are trained on what Python writes.
 */
@NullMarked
package io.roseinfer.tokenizer.chat;

import org.jspecify.annotations.NullMarked;
