import type { ProtobufCursor } from "../../../kernel/protobuf.ts";
import { bytesTag, leaveField, seekField, wantedTags } from "../../../kernel/protobufFields.ts";
import { memoryMedium } from "../localVolumes.ts";
import { isText } from "./podRequests.ts";
import { sharedText } from "./readRecord.ts";

const nameTag = bytesTag(1);
const sourceTag = bytesTag(2);
const volumeTags = wantedTags(nameTag, sourceTag);

/**
 * Reads one `Volume` of core/v1 and adds its name to those on the node's own disks, if it is one; `false` where it comes in
 * parts that would have to be put together first.
 */
export function readVolume(cursor: ProtobufCursor, end: number, local: string[]): boolean {
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
      found = readSource(cursor, limit);
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
const sourceTags = wantedTags(hostPathTag, emptyDirTag);
const mediumTag = bytesTag(1);
const emptyDirTags = wantedTags(mediumTag);
const memory = Buffer.from(memoryMedium);

/** `VolumeSource` of core/v1. */
function readSource(cursor: ProtobufCursor, end: number): Found {
  let isLocal = false;
  let emptyDirs = 0;
  for (let tag = seekField(cursor, end, sourceTags); tag !== 0; tag = seekField(cursor, end, sourceTags)) {
    const { limit } = cursor;
    if (tag === hostPathTag) isLocal = true;
    else {
      emptyDirs += 1;
      if (!isInMemory(cursor, limit)) isLocal = true;
    }
    leaveField(cursor, limit);
  }
  return emptyDirs > 1 ? "in parts" : isLocal ? "local" : "elsewhere";
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
