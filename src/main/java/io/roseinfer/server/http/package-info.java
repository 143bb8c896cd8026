/**
 * HTTP/1.1 on sockets: requests in, whole or refused, answers out through a {@link io.roseinfer.server.http.Response}.
 *
 * <p>Invariants: a request that its headers decide is answered without its body and without a thread of its own; each other call has
 * a virtual thread; the answers of a connection come in the order of its requests; a client that leaves is noticed without a write,
 * unless it has sent more requests ahead than are read; whatever a client sends, or does not read, takes bounded memory and bounded time.
 *
 * <p>What comes bit by bit for hundreds of clients at once goes through a {@link io.roseinfer.server.http.Pump}: a virtual thread for
 * each, woken for each bit and then handing its bytes to the channel's thread, cost the maker of the bits 2.4 to 5 times as much and the
 * server as a whole 1.2 to 1.7 times.
 *
 * <p>Netty reads the sockets, and nothing outside this package knows it. Helidon SE, whose handlers are blocking as ours are, was tried
 * beside it. It reads a socket between requests only, so it learns that a client has left at its second write after that, and while
 * a completion is made that is not streamed there is none. A thread per connection that reads ahead repairs that, but stands on
 * Helidon's internals; and a write to a client that does not read has no deadline there. Netty reads always, bounds what waits to be
 * written, has timers, and is 9 jars where Helidon is 33. What it lacks is added here: a body with two lengths is refused, and so is a
 * request without exactly one host, with an encoding other than chunked, or with many headers; and headers, bodies and writes have deadlines.
 * The server of the JDK notices a client that has left only when it writes, and can neither bound a stalled write nor close it.
 *
 * <p>A client that shuts down its sending half counts as one that has left: the two look the same until the next write, and waiting
 * for that would compute for nobody.
 */
@NullMarked
package io.roseinfer.server.http;

import org.jspecify.annotations.NullMarked;
