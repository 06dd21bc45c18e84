import type { ProtobufCursor } from "../../../kernel/protobuf.ts";
import { bytesTag, leaveField, seekField, wantedTags } from "../../../kernel/protobufFields.ts";
import { reservationNamespaces } from "../../../model/wellKnown.ts";
import { gpuAnnotations, keepingOthersOff, type PodProjection, type PodRow } from "../decodePod.ts";
import { isRecord } from "../fields.ts";
import { matchesLabels } from "../labelSelector.ts";
import { podPhase } from "../podStatus.ts";
import { type FoundRules, noRules, noteAffinity, readAffinityToPods } from "./nodeRules.ts";
import { type FoundLabels, noLabels, noteLabel, readLabels } from "./podLabels.ts";
import {
  clearRequests,
  effectiveCpuMilli,
  effectiveMemoryBytes,
  isText,
  noContainer,
  noRequests,
  readContainer,
  unnamedContainer,
} from "./podRequests.ts";
import { isTimestamp, readRecord, readSeconds, sharedText } from "./readRecord.ts";
import { podLabelsShape } from "./shapes.ts";

/**
 * Reads the row of a pod that has nothing to do with GPUs, from the cursor to `end`: most pods are such, and cost
 * little more than passing over their bytes. `null` where the pod may hold or ask for GPUs, may be an exporter, or is
 * odd in any way: then only reading more of the pod tells. The cursor is left anywhere.
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
  readonly labels: FoundLabels;
  readonly rules: FoundRules;
  isUnusual: boolean;
}

const metadataTag = bytesTag(1);
const specTag = bytesTag(2);
const statusTag = bytesTag(3);
const podTags = wantedTags(metadataTag, specTag, statusTag);

const containersTag = bytesTag(2);
const nodeNameTag = bytesTag(10);
const affinityTag = bytesTag(18);
const initContainersTag = bytesTag(20);
const overheadTag = bytesTag(32);
const resourceClaimsTag = bytesTag(39);
const podResourcesTag = bytesTag(40);
const specTags = wantedTags(
  containersTag,
  nodeNameTag,
  affinityTag,
  initContainersTag,
  overheadTag,
  resourceClaimsTag,
  podResourcesTag,
);

const ordinary = { isInit: false, wanted: unnamedContainer };
const initial = { isInit: true, wanted: unnamedContainer };

export function createPlainPodReader(projection: PodProjection): ReadPlainPod {
  const found: Found = {
    uidAt: -1,
    uidEnd: -1,
    namespace: "",
    hasName: false,
    nodeName: "",
    phase: "",
    labels: noLabels(),
    rules: noRules(),
    isUnusual: false,
  };
  const requests = noRequests(projection.gpuResources);
  const container = noContainer();

  const readSpec = (cursor: ProtobufCursor, end: number): void => {
    for (let tag = seekField(cursor, end, specTags); tag !== 0; tag = seekField(cursor, end, specTags)) {
      const { limit } = cursor;
      switch (tag) {
        case containersTag:
          readContainer(cursor, limit, ordinary, requests, container);
          break;
        case initContainersTag:
          readContainer(cursor, limit, initial, requests, container);
          break;
        case nodeNameTag:
          found.nodeName = sharedText(cursor.bytes, cursor.position, limit);
          break;
        case affinityTag:
          if (!noteAffinity(cursor, found.rules)) found.isUnusual = true;
          break;
        default: // overhead, claims, resources of the pod as a whole
          found.isUnusual = true;
      }
      // Most pods with GPUs are found out here: they are read by another.
      if (isOver()) return;
      leaveField(cursor, limit);
    }
  };

  const isOver = (): boolean => found.isUnusual || requests.isUnusual || requests.gpuName !== "";

  const readPod = (cursor: ProtobufCursor, end: number): void => {
    for (let tag = seekField(cursor, end, podTags); tag !== 0; tag = seekField(cursor, end, podTags)) {
      const { limit } = cursor;
      if (tag === metadataTag) readMetadata(cursor, limit, found);
      else if (tag === specTag) readSpec(cursor, limit);
      else readStatus(cursor, limit, found);
      if (isOver()) return;
      leaveField(cursor, limit);
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
    found.labels.at = -1;
    found.rules.affinityAt = -1;
    found.isUnusual = false;
    clearRequests(requests);
    readPod(cursor, end);
    if (cursor.failed || isOver() || !found.hasName || found.uidAt === -1) return null;
    if (reservationNamespaces.has(found.namespace) || mayBeExporter(cursor, start, end)) return null;
    const labels = readLabels(cursor, found.labels);
    const placement = keepingOthersOff(readAffinityToPods(cursor, found.rules));
    if (cursor.failed) return null;
    const nodeName = found.nodeName === "" ? null : found.nodeName;
    return {
      uid: cursor.bytes.toString("utf8", found.uidAt, found.uidEnd),
      namespace: found.namespace,
      nodeName,
      phase: podPhase(found.phase === "" ? null : found.phase, nodeName),
      cpuMilli: effectiveCpuMilli(requests),
      memoryBytes: effectiveMemoryBytes(requests),
      labels,
      placement,
    };
  };
}

const nameTag = bytesTag(1);
const namespaceTag = bytesTag(3);
const uidTag = bytesTag(5);
const creationTag = bytesTag(8);
const deletionTag = bytesTag(9);
const labelsTag = bytesTag(11);
const annotationsTag = bytesTag(12);
const metadataTags = wantedTags(nameTag, namespaceTag, uidTag, creationTag, deletionTag, labelsTag, annotationsTag);

function readMetadata(cursor: ProtobufCursor, end: number, found: Found): void {
  for (let tag = seekField(cursor, end, metadataTags); tag !== 0; tag = seekField(cursor, end, metadataTags)) {
    const { limit, position: at } = cursor;
    switch (tag) {
      case nameTag:
        found.hasName = limit > at;
        break;
      case namespaceTag:
        found.namespace = sharedText(cursor.bytes, at, limit);
        break;
      case uidTag:
        found.uidAt = limit > at ? at : -1;
        found.uidEnd = limit;
        break;
      case labelsTag:
        if (!noteLabel(cursor, found.labels)) found.isUnusual = true;
        break;
      case annotationsTag:
        if (isGpuAnnotation(cursor, limit)) found.isUnusual = true;
        break;
      default:
        if (!isTimestamp(readSeconds(cursor, limit) ?? 0)) found.isUnusual = true;
    }
    leaveField(cursor, limit);
  }
}

const keyTag = bytesTag(1);
const keyTags = wantedTags(keyTag);

/** Whether the key of this entry of the annotations is one that tells of GPUs. */
function isGpuAnnotation(cursor: ProtobufCursor, end: number): boolean {
  while (seekField(cursor, end, keyTags) !== 0) {
    const { limit } = cursor;
    for (const name of gpuAnnotationNames) if (isText(cursor, limit, name)) return true;
    leaveField(cursor, limit);
  }
  return false;
}

const phaseTag = bytesTag(1);
const extendedClaimTag = bytesTag(18);
const statusTags = wantedTags(phaseTag, extendedClaimTag);

function readStatus(cursor: ProtobufCursor, end: number, found: Found): void {
  for (let tag = seekField(cursor, end, statusTags); tag !== 0; tag = seekField(cursor, end, statusTags)) {
    const { limit } = cursor;
    if (tag === phaseTag) found.phase = sharedText(cursor.bytes, cursor.position, limit);
    else found.isUnusual = true;
    leaveField(cursor, limit);
  }
}
