import { Duplex } from "node:stream";
import type { MessagePort } from "node:worker_threads";

/** What goes through the port: bytes, `null` at their end, `true` when there is room for more. */
type Message = Uint8Array | null | true;

/**
 * A stream of bytes between two threads, one end at each end of a message channel. Node's own HTTP client and server speak over
 * it as over a socket. Bytes on their way are bounded: the next piece is sent once the other side has room for it.
 */
export function portStream(port: MessagePort): Duplex {
  let onDrained: (() => void) | null = null;
  let owesCapacity = false;
  let hasEnded = false;
  const post = (message: Message): void => port.postMessage(message);
  const send = (bytes: Uint8Array, done: () => void): void => {
    onDrained = done;
    // A copy is sent: the transfer would otherwise take all of the memory that the bytes are a part of.
    const copy = new Uint8Array(bytes);
    port.postMessage(copy, [copy.buffer]);
  };
  const stream = new Duplex({
    decodeStrings: true,
    write: (chunk: Uint8Array, _encoding, done) => send(chunk, done),
    writev: (chunks, done) => send(Buffer.concat(chunks.map(({ chunk }): Uint8Array => chunk)), done),
    final: (done) => {
      post(null);
      done();
    },
    read: () => {
      if (owesCapacity) post(true);
      owesCapacity = false;
    },
    destroy: (error, done) => {
      port.close();
      done(error);
    },
  });
  port.on("message", (message: Message) => {
    if (message === true) {
      const done = onDrained;
      onDrained = null;
      done?.();
    } else if (message === null) {
      hasEnded = true;
      stream.push(null);
    } else if (stream.push(message)) post(true);
    else owesCapacity = true;
  });
  // What came before the end still has to be read; without an end, something is missing.
  port.on("close", () => {
    if (!hasEnded) stream.destroy();
    else onDrained?.();
  });
  return stream;
}
