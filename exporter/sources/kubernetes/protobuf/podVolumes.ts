import type { ProtobufCursor } from "../../../kernel/protobuf.ts";
import { bytesTag, leaveField, seekField, wantedTags } from "../../../kernel/protobufFields.ts";
import { memoryMedium } from "../localVolumes.ts";
import { isText } from "./podRequests.ts";
import { sharedText } from "./readRecord.ts";

const nameTag = bytesTag(1);
const sourceTag = bytesTag(2);
const volumeTags = wantedTags(nameTag, sourceTag);

/**
 * Reads one `Volume` of core/v1 and adds its name to those on the node's own disks, or that of its claim to the claims, if it
 * is one; `false` where it comes in parts that would have to be put together first, or is of a kind that is looked at closer.
 */
export function readVolume(cursor: ProtobufCursor, end: number, local: string[], claims: string[]): boolean {
  let nameAt = end;
  let nameEnd = end;
  let sources = 0;
  let found: Found = "elsewhere";
  for (let tag = seekField(cursor, end, volumeTags); tag !== 0; tag = seekField(cursor, end, volumeTags)) {
    const { limit } = cursor;
    if (tag === nameTag) {
      nameAt = cursor.position;
      nameEnd = limit;
    } else {
      sources += 1;
      found = readSource(cursor, limit, claims);
    }
    leaveField(cursor, limit);
  }
  if (sources > 1 || found === "in parts") return false;
  if (found === "local" && !cursor.failed) local.push(sharedText(cursor.bytes, nameAt, nameEnd));
  return true;
}

type Found = "local" | "elsewhere" | "in parts";

const hostPathTag = bytesTag(1);
const emptyDirTag = bytesTag(2);
const claimTag = bytesTag(10);
/** Disks that the pod names itself, `csi` and `ephemeral` (podPlacement.ts). */
const odd = [3, 4, 8, 11, 12, 13, 15, 17, 20, 22, 23, 24, 25, 27, 28, 29].map(bytesTag);
const sourceTags = wantedTags(hostPathTag, emptyDirTag, claimTag, ...odd);
const claimNameTag = bytesTag(1);
const claimTags = wantedTags(claimNameTag);
const mediumTag = bytesTag(1);
const emptyDirTags = wantedTags(mediumTag);
const memory = Buffer.from(memoryMedium);

/** `VolumeSource` of core/v1. */
function readSource(cursor: ProtobufCursor, end: number, claims: string[]): Found {
  let isLocal = false;
  let emptyDirs = 0;
  let claimed = 0;
  for (let tag = seekField(cursor, end, sourceTags); tag !== 0; tag = seekField(cursor, end, sourceTags)) {
    const { limit } = cursor;
    if (tag === hostPathTag) isLocal = true;
    else if (tag === claimTag) {
      claimed += 1;
      readClaim(cursor, limit, claims);
    } else if (tag !== emptyDirTag) return "in parts";
    else {
      emptyDirs += 1;
      if (!isInMemory(cursor, limit)) isLocal = true;
    }
    leaveField(cursor, limit);
  }
  return emptyDirs > 1 || claimed > 1 ? "in parts" : isLocal ? "local" : "elsewhere";
}

/** `PersistentVolumeClaimVolumeSource` of core/v1. */
function readClaim(cursor: ProtobufCursor, end: number, claims: string[]): void {
  let name = "";
  while (seekField(cursor, end, claimTags) !== 0) {
    const { limit } = cursor;
    name = sharedText(cursor.bytes, cursor.position, limit);
    leaveField(cursor, limit);
  }
  if (name !== "" && !claims.includes(name)) claims.push(name);
}

function isInMemory(cursor: ProtobufCursor, end: number): boolean {
  let found = false;
  while (seekField(cursor, end, emptyDirTags) !== 0) {
    const { limit } = cursor;
    found = isText(cursor, limit, memory);
    leaveField(cursor, limit);
  }
  return found;
}
