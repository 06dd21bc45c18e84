import type { ProtobufCursor } from "../../../kernel/protobuf.ts";
import { bytesTag, leaveField, seekField, wantedTags } from "../../../kernel/protobufFields.ts";
import { gatedReason, maxUnschedulableChars } from "../podStatus.ts";
import { cut } from "../textMap.ts";
import { isText } from "./podRequests.ts";
import { isTimestamp, readSeconds, sharedText } from "./readRecord.ts";

/** `PodStatus` of core/v1 while it is read. */
export interface FoundStatus {
  phase: string;
  /** When condition `PodScheduled` became true; `null` where it has not, or does not say. */
  scheduledAt: number | null;
  isScheduled: boolean;
  /** As in `Pod`; `null` where no scheduler says anything. */
  unschedulable: string | null;
  /** A condition `PodScheduled` that is false was read: the first counts. */
  isUnscheduled: boolean;
  startTime: number | null;
  /** Names of containers that run or have run. */
  readonly started: string[];
  isUnusual: boolean;
}

export function noStatus(): FoundStatus {
  const scheduling = { scheduledAt: null, isScheduled: false, unschedulable: null, isUnscheduled: false };
  return { phase: "", ...scheduling, startTime: null, started: [], isUnusual: false };
}

export function clearStatus(status: FoundStatus): void {
  status.phase = "";
  status.scheduledAt = null;
  status.isScheduled = false;
  status.unschedulable = null;
  status.isUnscheduled = false;
  status.startTime = null;
  status.started.length = 0;
  status.isUnusual = false;
}

const phaseTag = bytesTag(1);
const conditionsTag = bytesTag(2);
const startTimeTag = bytesTag(7);
const containerStatusesTag = bytesTag(8);
const initContainerStatusesTag = bytesTag(10);
const extendedClaimTag = bytesTag(18);
const statusTags = wantedTags(
  phaseTag,
  conditionsTag,
  startTimeTag,
  containerStatusesTag,
  initContainerStatusesTag,
  extendedClaimTag,
);

export function readPodStatus(cursor: ProtobufCursor, end: number, found: FoundStatus): void {
  for (let tag = seekField(cursor, end, statusTags); tag !== 0; tag = seekField(cursor, end, statusTags)) {
    const { limit } = cursor;
    switch (tag) {
      case phaseTag:
        found.phase = sharedText(cursor.bytes, cursor.position, limit);
        break;
      case conditionsTag:
        readCondition(cursor, limit, found);
        break;
      case startTimeTag:
        found.startTime = readTime(cursor, limit, found);
        break;
      case extendedClaimTag:
        found.isUnusual = true;
        break;
      default:
        readContainerStatus(cursor, limit, found);
    }
    if (found.isUnusual) return;
    leaveField(cursor, limit);
  }
}

/** A time outside of what the API can hold is for the whole way to complain about. */
function readTime(cursor: ProtobufCursor, end: number, found: FoundStatus): number | null {
  const seconds = readSeconds(cursor, end);
  if (seconds !== null && !isTimestamp(seconds)) found.isUnusual = true;
  return seconds;
}

const typeTag = bytesTag(1);
const conditionStatusTag = bytesTag(2);
const transitionTag = bytesTag(4);
const reasonTag = bytesTag(5);
const messageTag = bytesTag(6);
const conditionTags = wantedTags(typeTag, conditionStatusTag, transitionTag, reasonTag, messageTag);
const podScheduled = Buffer.from("PodScheduled");
const disruptionTarget = Buffer.from("DisruptionTarget");
const isTrue = Buffer.from("True");
const isFalse = Buffer.from("False");
const gated = Buffer.from(gatedReason);

/** The first condition `PodScheduled` that is true counts, and the first that is false. Why a pod is disrupted is for the whole way to read. */
function readCondition(cursor: ProtobufCursor, end: number, found: FoundStatus): void {
  let state: "True" | "False" | null = null;
  let since: number | null = null;
  let isGated = false;
  let message = "";
  for (let tag = seekField(cursor, end, conditionTags); tag !== 0; tag = seekField(cursor, end, conditionTags)) {
    const { limit } = cursor;
    switch (tag) {
      case typeTag:
        if (isText(cursor, limit, disruptionTarget)) found.isUnusual = true;
        if (!isText(cursor, limit, podScheduled)) return;
        break;
      case conditionStatusTag:
        state = isText(cursor, limit, isTrue) ? "True" : isText(cursor, limit, isFalse) ? "False" : null;
        break;
      case transitionTag:
        since = readTime(cursor, limit, found);
        break;
      case reasonTag:
        isGated = isText(cursor, limit, gated);
        break;
      default:
        message = sharedText(cursor.bytes, cursor.position, limit);
    }
    leaveField(cursor, limit);
  }
  if (state === "True") noteScheduled(found, since);
  if (state === "False") noteUnscheduled(found, isGated ? null : message);
}

function noteScheduled(found: FoundStatus, since: number | null): void {
  if (found.isScheduled) return;
  found.isScheduled = true;
  found.scheduledAt = since;
}

function noteUnscheduled(found: FoundStatus, message: string | null): void {
  if (found.isUnscheduled) return;
  found.isUnscheduled = true;
  found.unschedulable = message === null ? null : cut(message, maxUnschedulableChars);
}

const nameTag = bytesTag(1);
const stateTag = bytesTag(2);
const lastStateTag = bytesTag(3);
const containerStatusTags = wantedTags(nameTag, stateTag, lastStateTag);

/** `ContainerStatus` of core/v1. */
function readContainerStatus(cursor: ProtobufCursor, end: number, found: FoundStatus): void {
  let name = "";
  let states = 0;
  let lastStates = 0;
  let hasRun = false;
  for (
    let tag = seekField(cursor, end, containerStatusTags);
    tag !== 0;
    tag = seekField(cursor, end, containerStatusTags)
  ) {
    const { limit } = cursor;
    if (tag === nameTag) name = sharedText(cursor.bytes, cursor.position, limit);
    else {
      if (tag === stateTag) states += 1;
      else lastStates += 1;
      if (tellsOfRun(cursor, limit, found)) hasRun = true;
    }
    leaveField(cursor, limit);
  }
  // A state in parts would have to be put together first.
  if (states > 1 || lastStates > 1) found.isUnusual = true;
  if (hasRun) found.started.push(name);
}

const runningTag = bytesTag(2);
const terminatedTag = bytesTag(3);
const stateTags = wantedTags(runningTag, terminatedTag);
const startedAtTag = bytesTag(5);
const terminatedTags = wantedTags(startedAtTag);

/** Whether a `ContainerState` says that the container runs or has run, as `allContainersStarted` takes it. */
function tellsOfRun(cursor: ProtobufCursor, end: number, found: FoundStatus): boolean {
  let isRunning = false;
  let isTerminated = false;
  let startedAt: number | null = null;
  for (let tag = seekField(cursor, end, stateTags); tag !== 0; tag = seekField(cursor, end, stateTags)) {
    const { limit } = cursor;
    if (tag === runningTag) isRunning = true;
    else {
      isTerminated = true;
      while (seekField(cursor, limit, terminatedTags) !== 0) {
        const timeEnd = cursor.limit;
        startedAt = readTime(cursor, timeEnd, found);
        leaveField(cursor, timeEnd);
      }
    }
    leaveField(cursor, limit);
  }
  // A container that could not be started has "terminated" too, with the start of the epoch as its start.
  return isRunning || (isTerminated && startedAt !== 0);
}
