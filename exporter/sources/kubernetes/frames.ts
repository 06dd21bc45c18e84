/** Cuts the stream of a watch into frames, each one event. */
export interface FrameReader {
  /** The frames that this chunk completes; `null` once a frame is longer than allowed. */
  push(chunk: Uint8Array): readonly Buffer[] | null;
}

const lineFeed = 10;

/** Frames in JSON are lines; blank ones are left out. */
export function createLineReader(maxBytes: number): FrameReader {
  let pending: Buffer[] = [];
  let pendingBytes = 0;
  return {
    push: (chunk) => {
      const bytes = Buffer.from(chunk.buffer, chunk.byteOffset, chunk.byteLength);
      const lines: Buffer[] = [];
      let start = 0;
      for (let end = bytes.indexOf(lineFeed); end !== -1; end = bytes.indexOf(lineFeed, start)) {
        const rest = bytes.subarray(start, end);
        const line = pending.length === 0 ? rest : Buffer.concat([...pending, rest]);
        pending = [];
        pendingBytes = 0;
        start = end + 1;
        if (line.length > maxBytes) return null;
        if (line.length > 0) lines.push(line);
      }
      if (start < bytes.length) {
        pending.push(bytes.subarray(start));
        pendingBytes += bytes.length - start;
      }
      return pendingBytes > maxBytes ? null : lines;
    },
  };
}
