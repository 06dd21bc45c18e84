import { bareRecord } from "../../../kernel/bareRecord.ts";
import { type ProtobufCursor, readVarint } from "../../../kernel/protobuf.ts";
import { bytesTag, leaveField, seekField, varintTag, wantedTags } from "../../../kernel/protobufFields.ts";
import type { OwnerRef } from "../../../model/pod.ts";
import { annotationsOfPods } from "../annotations.ts";
import { maxLabelChars, maxLabels } from "../ownLabels.ts";
import { wholeLabels } from "../textMap.ts";
import { readTextEntry } from "./readEntry.ts";
import { isTimestamp, readSeconds, sharedText } from "./readRecord.ts";

/** `ObjectMeta` of a pod while it is read. */
export interface FoundMetadata {
  name: string;
  namespace: string;
  uid: string;
  createdAt: number | null;
  readonly labels: Record<string, string>;
  readonly annotations: Record<string, string>;
  /** Entries of both so far. */
  entries: number;
  labelEntries: number;
  /** With some bytes of tags for each. */
  labelBytes: number;
  owners: number;
  owner: OwnerRef | null;
  /** The first that is marked as such. */
  controller: OwnerRef | null;
  isUnusual: boolean;
}

export function noMetadata(): FoundMetadata {
  return {
    name: "",
    namespace: "",
    uid: "",
    createdAt: null,
    labels: bareRecord(),
    annotations: bareRecord(),
    entries: 0,
    labelEntries: 0,
    labelBytes: 0,
    owners: 0,
    owner: null,
    controller: null,
    isUnusual: false,
  };
}

const nameTag = bytesTag(1);
const namespaceTag = bytesTag(3);
const uidTag = bytesTag(5);
const creationTag = bytesTag(8);
const labelsTag = bytesTag(11);
const annotationsTag = bytesTag(12);
const ownersTag = bytesTag(13);
const metadataTags = wantedTags(nameTag, namespaceTag, uidTag, creationTag, labelsTag, annotationsTag, ownersTag);

/** `textMap` keeps no more than this of one map. */
const maxEntries = 256;

export function readPodMetadata(cursor: ProtobufCursor, end: number, found: FoundMetadata): void {
  for (let tag = seekField(cursor, end, metadataTags); tag !== 0; tag = seekField(cursor, end, metadataTags)) {
    const { limit, position: at, bytes } = cursor;
    switch (tag) {
      case nameTag:
        found.name = ownText(bytes, at, limit);
        break;
      case namespaceTag:
        found.namespace = sharedText(bytes, at, limit);
        break;
      case uidTag:
        found.uid = ownText(bytes, at, limit);
        break;
      case creationTag:
        found.createdAt = readSeconds(cursor, limit);
        if (found.createdAt !== null && !isTimestamp(found.createdAt)) found.isUnusual = true;
        break;
      case ownersTag:
        readOwner(cursor, limit, found);
        break;
      default:
        readEntry(cursor, limit, tag === labelsTag, found);
    }
    if (found.isUnusual) return;
    leaveField(cursor, limit);
  }
}

/** A text that no other pod has: it is not looked for among the shared ones. */
function ownText(bytes: Buffer, start: number, end: number): string {
  return start === end ? "" : bytes.toString("utf8", start, end);
}

function readEntry(cursor: ProtobufCursor, end: number, isLabel: boolean, found: FoundMetadata): void {
  const limits = isLabel ? wholeLabels : annotationsOfPods;
  found.entries += 1;
  if (isLabel) {
    found.labelEntries += 1;
    found.labelBytes += end - cursor.position;
  }
  const isUsual = readTextEntry(cursor, end, limits, isLabel ? found.labels : found.annotations);
  if (!isUsual || found.entries > maxEntries || hasManyLabels(found)) found.isUnusual = true;
}

/** Near the bounds of labels the whole pod is read in the general way, which chooses among them. */
const hasManyLabels = ({ labelEntries, labelBytes }: FoundMetadata): boolean =>
  labelEntries > maxLabels || labelBytes > maxLabelChars;

const kindTag = bytesTag(1);
const ownerNameTag = bytesTag(3);
const ownerUidTag = bytesTag(4);
const apiVersionTag = bytesTag(5);
const controllerTag = varintTag(6);
const ownerTags = wantedTags(kindTag, ownerNameTag, ownerUidTag, apiVersionTag, controllerTag);

/** `OwnerReference` of meta/v1. */
function readOwner(cursor: ProtobufCursor, end: number, found: FoundMetadata): void {
  let [apiVersion, kind, name, uid] = ["", "", "", ""];
  let isController = false;
  for (let tag = seekField(cursor, end, ownerTags); tag !== 0; tag = seekField(cursor, end, ownerTags)) {
    if (tag === controllerTag) {
      isController = readVarint(cursor, end) !== 0;
      continue;
    }
    const { limit } = cursor;
    const value = sharedText(cursor.bytes, cursor.position, limit);
    if (tag === kindTag) kind = value;
    else if (tag === ownerNameTag) name = value;
    else if (tag === ownerUidTag) uid = value;
    else apiVersion = value;
    cursor.position = limit;
  }
  found.owners += 1;
  if (found.owners > 1 && (!isController || found.controller !== null)) return;
  const owner = { apiVersion, kind, name, uid };
  if (found.owners === 1) found.owner = owner;
  if (isController && found.controller === null) found.controller = owner;
}
