import type { FrameReader } from "../frames.ts";

const headBytes = 4;

/**
 * Frames of a watch in protobuf: the length in four bytes, big-endian, and then the event
 * (k8s.io/apimachinery/pkg/util/framer). Only a frame that is spread over chunks is copied.
 */
export function createLengthReader(maxBytes: number): FrameReader {
  /** The beginning of a frame whose end has not come. */
  let pending: Buffer[] = [];
  let pendingBytes = 0;
  /** Length of that frame, its head included; that of the head while it is not whole. */
  let wanted = headBytes;

  /** Adds to the pending frame what it lacks; gives the number of bytes taken. */
  const take = (chunk: Buffer, start: number): number => {
    const count = Math.min(wanted - pendingBytes, chunk.length - start);
    if (count > 0) pending.push(chunk.subarray(start, start + count));
    pendingBytes += count;
    return count;
  };

  /** The pending frame once it is whole; `null` while it is not. */
  const whole = (): Buffer | null => {
    if (pendingBytes < wanted) return null;
    const joined = Buffer.concat(pending);
    pending = [joined];
    wanted = headBytes + joined.readUInt32BE(0);
    if (pendingBytes < wanted) return null;
    pending = [];
    pendingBytes = 0;
    wanted = headBytes;
    return joined.subarray(headBytes);
  };

  return {
    push: (arrived) => {
      const chunk = Buffer.isBuffer(arrived)
        ? arrived
        : Buffer.from(arrived.buffer, arrived.byteOffset, arrived.byteLength);
      const frames: Buffer[] = [];
      let start = 0;
      while (start < chunk.length) {
        const bodyAt = start + headBytes;
        const end = pendingBytes > 0 || bodyAt > chunk.length ? null : bodyAt + chunk.readUInt32BE(start);
        if (end !== null && end <= chunk.length && end - bodyAt <= maxBytes) {
          frames.push(chunk.subarray(bodyAt, end));
          start = end;
          continue;
        }
        start += take(chunk, start);
        const frame = whole();
        if (wanted - headBytes > maxBytes) return null;
        if (frame !== null) frames.push(frame);
      }
      return frames;
    },
  };
}
