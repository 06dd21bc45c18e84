import {
  fieldOf,
  type ProtobufCursor,
  readLimit,
  readTag,
  skipField,
  wireTypeOf,
  wireTypes,
} from "../../../kernel/protobuf.ts";
import { reservationNamespaces } from "../../../model/wellKnown.ts";
import { gpuAnnotations, type PodProjection, type PodRow } from "../decodePod.ts";
import { isRecord } from "../fields.ts";
import { matchesLabels } from "../labelSelector.ts";
import { podPhase } from "../podStatus.ts";
import {
  clearRequests,
  effectiveCpuMilli,
  effectiveMemoryBytes,
  isText,
  noRequests,
  readContainer,
} from "./podRequests.ts";
import { isTimestamp, readRecord, readSeconds, sharedText } from "./readRecord.ts";
import { podLabelsShape } from "./shapes.ts";

/**
 * Reads the row of a pod that has nothing to do with GPUs, from the cursor to `end`: most pods are such, and cost
 * little more than passing over their bytes. `null` where the pod may hold or ask for GPUs, may be an exporter, or is
 * odd in any way: then only reading the whole pod tells. The cursor is left anywhere.
 */
export type ReadPlainPod = (cursor: ProtobufCursor, end: number) => PodRow | null;

const gpuAnnotationNames = gpuAnnotations.map((name) => Buffer.from(name));

/** What is found while a pod is read; texts as positions, -1: none. */
interface Found {
  uidAt: number;
  uidEnd: number;
  namespace: string;
  hasName: boolean;
  nodeName: string;
  phase: string;
  isUnusual: boolean;
}

export function createPlainPodReader(projection: PodProjection): ReadPlainPod {
  const found: Found = {
    uidAt: -1,
    uidEnd: -1,
    namespace: "",
    hasName: false,
    nodeName: "",
    phase: "",
    isUnusual: false,
  };
  const requests = noRequests();

  const readSpec = (cursor: ProtobufCursor, end: number): void => {
    while (cursor.position < end) {
      const tag = readTag(cursor, end);
      if (wireTypeOf(tag) !== wireTypes.bytes) {
        skipField(cursor, tag, end);
        continue;
      }
      const limit = readLimit(cursor, end);
      switch (fieldOf(tag)) {
        case 2: // containers
          readContainer(cursor, limit, false, requests);
          if (requests.isUnusual) return;
          break;
        case 20: // initContainers
          readContainer(cursor, limit, true, requests);
          break;
        case 10:
          found.nodeName = sharedText(cursor.bytes, cursor.position, limit);
          break;
        case 32: // overhead
        case 39: // resourceClaims
        case 40: // resources of the pod as a whole
          found.isUnusual = true;
          break;
      }
      if (!cursor.failed) cursor.position = limit;
    }
  };

  const readPod = (cursor: ProtobufCursor, end: number): void => {
    while (cursor.position < end) {
      const tag = readTag(cursor, end);
      if (wireTypeOf(tag) !== wireTypes.bytes) {
        skipField(cursor, tag, end);
        continue;
      }
      const limit = readLimit(cursor, end);
      switch (fieldOf(tag)) {
        case 1:
          readMetadata(cursor, limit, found);
          if (found.isUnusual) return;
          break;
        case 2:
          readSpec(cursor, limit);
          // Most pods with GPUs are found out here: the rest is read by another.
          if (requests.isUnusual) return;
          break;
        case 3:
          readStatus(cursor, limit, found);
          break;
      }
      if (!cursor.failed) cursor.position = limit;
    }
  };

  const mayBeExporter = (cursor: ProtobufCursor, start: number, end: number): boolean => {
    const selectors = projection.exporters.filter(({ namespaces }) => namespaces.has(found.namespace));
    if (selectors.length === 0) return false;
    cursor.position = start;
    const { metadata } = readRecord(cursor, end, podLabelsShape);
    const labels = isRecord(metadata) && isRecord(metadata.labels) ? metadata.labels : {};
    return selectors.some((selector) => matchesLabels(selector.labels, labels));
  };

  return (cursor, end) => {
    const start = cursor.position;
    found.uidAt = -1;
    found.namespace = "";
    found.hasName = false;
    found.nodeName = "";
    found.phase = "";
    found.isUnusual = false;
    clearRequests(requests);
    readPod(cursor, end);
    if (cursor.failed || found.isUnusual || requests.isUnusual || !found.hasName || found.uidAt === -1) return null;
    if (reservationNamespaces.has(found.namespace) || mayBeExporter(cursor, start, end)) return null;
    const nodeName = found.nodeName === "" ? null : found.nodeName;
    return {
      uid: cursor.bytes.toString("utf8", found.uidAt, found.uidEnd),
      namespace: found.namespace,
      nodeName,
      phase: podPhase(found.phase === "" ? null : found.phase, nodeName),
      cpuMilli: effectiveCpuMilli(requests),
      memoryBytes: effectiveMemoryBytes(requests),
    };
  };
}

function readMetadata(cursor: ProtobufCursor, end: number, found: Found): void {
  while (cursor.position < end) {
    const tag = readTag(cursor, end);
    if (wireTypeOf(tag) !== wireTypes.bytes) {
      skipField(cursor, tag, end);
      continue;
    }
    const limit = readLimit(cursor, end);
    const at = cursor.position;
    switch (fieldOf(tag)) {
      case 1:
        found.hasName = limit > at;
        break;
      case 3:
        found.namespace = sharedText(cursor.bytes, at, limit);
        break;
      case 5:
        found.uidAt = limit > at ? at : -1;
        found.uidEnd = limit;
        break;
      case 8: // creationTimestamp
      case 9: // deletionTimestamp
        if (!isTimestamp(readSeconds(cursor, limit) ?? 0)) found.isUnusual = true;
        break;
      case 12:
        if (isGpuAnnotation(cursor, limit)) found.isUnusual = true;
        break;
    }
    if (!cursor.failed) cursor.position = limit;
  }
}

/** Whether the key of this entry of the annotations is one that tells of GPUs. */
function isGpuAnnotation(cursor: ProtobufCursor, end: number): boolean {
  while (cursor.position < end) {
    const tag = readTag(cursor, end);
    if (fieldOf(tag) === 1 && wireTypeOf(tag) === wireTypes.bytes) {
      const limit = readLimit(cursor, end);
      if (gpuAnnotationNames.some((name) => isText(cursor, limit, name))) return true;
      if (!cursor.failed) cursor.position = limit;
    } else skipField(cursor, tag, end);
  }
  return false;
}

function readStatus(cursor: ProtobufCursor, end: number, found: Found): void {
  while (cursor.position < end) {
    const tag = readTag(cursor, end);
    if (fieldOf(tag) === 1 && wireTypeOf(tag) === wireTypes.bytes) {
      const limit = readLimit(cursor, end);
      found.phase = sharedText(cursor.bytes, cursor.position, limit);
      cursor.position = limit;
    } else {
      if (fieldOf(tag) === 18) found.isUnusual = true; // extendedResourceClaimStatus
      skipField(cursor, tag, end);
    }
  }
}
