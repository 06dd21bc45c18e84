/** Buffers for bodies that come in pieces, used again and again: fresh ones would be garbage at each page. */
export interface BodyBuffers {
  /** A buffer of at least this many bytes; its content is undefined. */
  take(atLeast: number): Buffer;
  /** Gives a buffer back: its bytes may be overwritten at once. */
  give(buffer: Buffer): void;
}

const leastBytes = 65_536;
/** A larger one is rare, and not kept. */
const largestKeptBytes = 1 << 20;
const keptBytes = 16 << 20;

export function createBodyBuffers(): BodyBuffers {
  const free: Buffer[] = [];
  let freeBytes = 0;
  return {
    take: (atLeast) => {
      const index = free.findLastIndex(({ length }) => length >= atLeast);
      const [found] = index < 0 ? [] : free.splice(index, 1);
      if (found === undefined) return Buffer.allocUnsafeSlow(Math.max(leastBytes, 2 ** Math.ceil(Math.log2(atLeast))));
      freeBytes -= found.length;
      return found;
    },
    give: (buffer) => {
      if (buffer.length > largestKeptBytes || freeBytes + buffer.length > keptBytes) return;
      free.push(buffer);
      freeBytes += buffer.length;
    },
  };
}
