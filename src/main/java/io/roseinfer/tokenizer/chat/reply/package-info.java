/**
 * A chat model's reply: its reasoning, content and tool calls. {@link io.roseinfer.tokenizer.chat.reply.ReplyFormats} finds the formats of a chat
 * template, {@link io.roseinfer.tokenizer.chat.reply.ReplyParser} splits the text as it is generated, and {@link io.roseinfer.tokenizer.chat.reply.Reply}
 * is a complete reply.
 *
 * <p>Invariants: the parts do not depend on how the text is cut, and no delta is revoked. Text that is not a call is content, so no text is
 * lost except the markers and the white space around them.
 */
@NullMarked
package io.roseinfer.tokenizer.chat.reply;

import org.jspecify.annotations.NullMarked;
