import { protobufCursor } from "../../../../exporter/kernel/protobuf.ts";
import type { DecodedPod } from "../../../../exporter/sources/kubernetes/decodePod.ts";
import { podReader } from "../../../../exporter/sources/kubernetes/protobuf/kinds.ts";
import { projection } from "../wireSubjects.ts";

/** A field with a length, by its number in `generated.proto`. */
export function field(number: number, ...parts: readonly (string | Buffer)[]): Buffer {
  const bytes = Buffer.concat(parts.map((part) => Buffer.from(part)));
  return Buffer.concat([varint((number << 3) | 2), varint(bytes.length), bytes]);
}

/** An unsigned number as the wire has it. */
export function varint(value: number): Buffer {
  const digits: number[] = [];
  for (let rest = value; digits.length === 0 || rest > 0; rest = Math.floor(rest / 128))
    digits.push((rest % 128) | (rest >= 128 ? 128 : 0));
  return Buffer.from(digits);
}

const read = podReader(projection);

/** A `Pod` of core/v1 as the source reads it; `null` where the bytes are no message. */
export function readPod(bytes: Buffer): DecodedPod | null {
  const cursor = protobufCursor(bytes);
  const { decoded } = read(cursor, bytes.length);
  if (cursor.failed) return null;
  if (!decoded.ok) throw new Error(decoded.problem.message);
  return decoded.value;
}
