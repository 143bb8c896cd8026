/**
 * HTTP/1.1 on sockets: reads requests, and sends responses through a {@link io.roseinfer.server.http.Response}.
 *
 * <p>Invariants: a request that its headers decide is answered without its body and without a thread; every other call has a virtual
 * thread. The responses of a connection are in the order of its requests. A disconnect is detected without a write, unless the client
 * has pipelined more requests than are read. Every client uses bounded memory and bounded time.
 *
 * <p>Incremental output for hundreds of clients uses a {@link io.roseinfer.server.http.Pump}. A virtual thread per client, woken for
 * each token and then passing its bytes to the channel's thread, cost the engine 2.4 to 5 times as much, and the whole server 1.2 to
 * 1.7 times.
 *
 * <p>Netty is used only in this package. The alternative was Helidon SE, whose handlers block like these. It reads a socket between
 * requests only, so it detects a disconnect at the second write after it, and a completion that is not streamed has no writes. A
 * thread per connection that reads ahead would fix that, but depends on Helidon's internals. Its writes to a client that does not read
 * have no deadline. Netty reads continuously, bounds unsent bytes, has timers, and needs 9 jars instead of 33. What it lacks is added here: a
 * body with two lengths is rejected, and so is a request without exactly one host, with an encoding other than chunked, or with too
 * many headers; headers, bodies and writes have deadlines. The JDK's server detects a disconnect only when it writes, and can neither
 * bound a stalled write nor close it.
 *
 * <p>A client that shuts down its sending half is treated as disconnected: the two look the same until the next write, and until then
 * the completion would be computed in vain.
 */
@NullMarked
package io.roseinfer.server.http;

import org.jspecify.annotations.NullMarked;
