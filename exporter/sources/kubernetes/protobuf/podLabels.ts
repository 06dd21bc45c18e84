import { createBytesMemo } from "../../../kernel/bytesMemo.ts";
import type { ProtobufCursor } from "../../../kernel/protobuf.ts";
import { bytesTag } from "../../../kernel/protobufFields.ts";
import { labelsText } from "../neighborLabels.ts";
import { maxLabelChars, maxLabels } from "../ownLabels.ts";
import { textMap as labelsIn, wholeLabels } from "../textMap.ts";
import { readRecord } from "./readRecord.ts";
import { shape, textMap } from "./shape.ts";

/** Where a pod's labels stand: positions in the bytes, `at` -1 where there are none. */
export interface FoundLabels {
  at: number;
  end: number;
  count: number;
}

/** Of a pod without any. */
export const noLabels = (): FoundLabels => ({ at: -1, end: -1, count: 0 });

const tagByte = bytesTag(11);

/** Notes one label: they stand one after the other. `false` where they do not, are written in an odd way, or are near the bounds of what is kept. */
export function noteLabel({ bytes, position, limit }: ProtobufCursor, found: FoundLabels): boolean {
  const length = limit - position;
  const at = position - (length < 0x80 ? 2 : 3);
  if (length >= 0x4000 || bytes[at] !== tagByte) return false;
  if (found.at === -1) {
    found.at = at;
    found.count = 0;
  } else if (found.end !== at) return false;
  found.end = limit;
  found.count += 1;
  return found.count <= maxLabels && limit - found.at <= maxLabelChars;
}

const none = labelsText({});

/** The labels that were noted, as `labelsText` has them; those of most pods are the same bytes. */
export function readLabels(cursor: ProtobufCursor, found: FoundLabels): string {
  if (found.at === -1) return none;
  cursor.position = found.at;
  return textOf(cursor, found.end);
}

const labelsShape = shape({ 11: textMap("labels") });
const textOf = createBytesMemo((cursor, end) =>
  labelsText(labelsIn({ value: readRecord(cursor, end, labelsShape), at: "", faults: [] }, "labels", wholeLabels)),
);
