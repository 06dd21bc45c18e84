import { createBytesMemo } from "../../../kernel/bytesMemo.ts";
import type { ProtobufCursor } from "../../../kernel/protobuf.ts";
import { bytesTag, leaveField, seekField, wantedTags } from "../../../kernel/protobufFields.ts";
import type { PodPlacement } from "../../../model/podPlacement.ts";
import type { PodNeeds } from "../../../model/queues/podNeeds.ts";
import type { Place } from "../fields.ts";
import { nodeSelectorTerms, tolerations } from "../nodeRules.ts";
import { podPlacement } from "../podPlacement.ts";
import { affinityShape, nodeSelectorShape, tolerationShape } from "./podRuleShapes.ts";
import { readRecord } from "./readRecord.ts";
import { messages, type Shape, shape } from "./shape.ts";

/** Where a pod's spec says which nodes it may have: positions in the bytes, -1 where there is nothing. */
export interface FoundRules {
  affinityAt: number;
  affinityEnd: number;
  tolerationsAt: number;
  tolerationsEnd: number;
}

/** Of a pod that says nothing. */
export const noRules = (): FoundRules => ({ affinityAt: -1, affinityEnd: -1, tolerationsAt: -1, tolerationsEnd: -1 });

/** `tolerations` of PodSpec. */
export const tolerationsTag = bytesTag(22);
const tagBytes = [(tolerationsTag & 0x7f) | 0x80, tolerationsTag >> 7] as const;

/** Notes one toleration: they stand one after the other. `false` where they do not, or are written in an odd way. */
export function noteToleration({ bytes, position, limit }: ProtobufCursor, found: FoundRules): boolean {
  const length = limit - position;
  const at = position - (length < 0x80 ? 3 : 4);
  if (length >= 0x4000 || bytes[at] !== tagBytes[0] || bytes[at + 1] !== tagBytes[1]) return false;
  if (found.tolerationsAt === -1) found.tolerationsAt = at;
  else if (found.tolerationsEnd !== at) return false;
  found.tolerationsEnd = limit;
  return true;
}

/** Notes the affinity. `false` where it comes in parts. */
export function noteAffinity({ position, limit }: ProtobufCursor, found: FoundRules): boolean {
  if (found.affinityAt !== -1) return false;
  found.affinityAt = position;
  found.affinityEnd = limit;
  return true;
}

/** The tolerations that were noted; those of most pods are the same bytes. */
export function readTolerations(cursor: ProtobufCursor, found: FoundRules): PodNeeds["tolerations"] {
  if (found.tolerationsAt === -1) return noTolerations;
  cursor.position = found.tolerationsAt;
  return tolerationsOf(cursor, found.tolerationsEnd);
}

const firstTag = bytesTag(1);
const first = wantedTags(firstTag);

/** What the noted affinity requires; `null` where it comes in parts. */
export function readAffinity(cursor: ProtobufCursor, found: FoundRules): PodNeeds["nodeAffinity"] | null {
  if (found.affinityAt === -1) return noAffinity;
  cursor.position = found.affinityAt;
  // Affinity.nodeAffinity, and in it requiredDuringSchedulingIgnoredDuringExecution.
  const inner = onlyField(cursor, found.affinityEnd);
  const required = inner > 0 ? onlyField(cursor, inner) : inner;
  if (required === 0) return noAffinity;
  return required < 0 ? null : termsOf(cursor, required);
}

/** What the noted affinity says about the pods around; it may come in parts. `null`: nothing. */
export function readAffinityToPods(cursor: ProtobufCursor, found: FoundRules): PodPlacement | null {
  if (found.affinityAt === -1) return null;
  cursor.position = found.affinityAt;
  return placementOf(cursor, found.affinityEnd);
}

/** Moves into field 1 and gives its end; 0 where there is none, below 0 where it comes more than once. */
function onlyField(cursor: ProtobufCursor, end: number): number {
  if (seekField(cursor, end, first) === 0) return 0;
  const { position, limit } = cursor;
  leaveField(cursor, limit);
  if (seekField(cursor, end, first) !== 0) return -1;
  leaveField(cursor, position);
  return limit;
}

const tolerationsOf = createBytesMemo(byShape(shape({ 22: messages("tolerations", tolerationShape) }), tolerations));
const termsOf = createBytesMemo(byShape(nodeSelectorShape, nodeSelectorTerms));

const placementOf = createBytesMemo(
  byShape(affinityShape, ({ value }) => podPlacement({ value: { affinity: value }, at: "", faults: [] })),
);

const nowhere: Place = { value: {}, at: "", faults: [] };
const noTolerations = tolerations(nowhere);
const noAffinity = nodeSelectorTerms(nowhere);

function byShape<Value>(wanted: Shape, project: (place: Place) => Value) {
  // What is read by its shape has no faults.
  return (cursor: ProtobufCursor, end: number): Value =>
    project({ value: readRecord(cursor, end, wanted), at: "", faults: [] });
}
