import { isRecord } from "../../exporter/kernel/parseJson.ts";
import type { DumpFile } from "./readFiles.ts";
import type { DumpObject } from "./readObjects.ts";

/** Fields of a status that say when something happened. All other fields may be about the future, or contain text by anyone. */
const statusTimes: ReadonlySet<string> = new Set([
  "lastHeartbeatTime",
  "lastProbeTime",
  "lastTransitionTime",
  "startTime",
  "startedAt",
  "finishedAt",
]);

/**
 * How deep a status is searched: as deep as `status.containerStatuses[].lastState.terminated.finishedAt` lies in it, and a
 * little more.
 */
const deepestStatus = 8;

/**
 * When a dump was taken, seconds since the epoch, as far as it shows: the newest time at which the cluster itself wrote to a
 * node or a pod (creation, status, managed fields); without any, to another object; else the time of the newest file. What
 * people and controllers write elsewhere is no evidence: annotations and the time of a deletion may lie years ahead.
 */
export function timeOfDump(objects: readonly DumpObject[], files: readonly DumpFile[]): number {
  const [basic, others] = [objects.filter(isNodeOrPod), objects.filter((object) => !isNodeOrPod(object))];
  return newestOf(basic) ?? newestOf(others) ?? Math.max(0, ...files.map((file) => file.modifiedAt));
}

const isNodeOrPod = ({ kind }: DumpObject): boolean => kind === "Node" || kind === "Pod";

function newestOf(objects: readonly DumpObject[]): number | null {
  let newest: number | null = null;
  for (const { value } of objects)
    for (const time of [...metadataTimes(value.metadata), ...timesInStatus(value.status, 0)])
      if (newest === null || time > newest) newest = time;
  return newest;
}

function metadataTimes(metadata: unknown): readonly number[] {
  if (!isRecord(metadata)) return [];
  const { creationTimestamp, managedFields } = metadata;
  const written = Array.isArray(managedFields) ? managedFields : [];
  return [creationTimestamp, ...written.map((entry: unknown) => (isRecord(entry) ? entry.time : null))].flatMap(
    seconds,
  );
}

function timesInStatus(value: unknown, depth: number): readonly number[] {
  if (depth > deepestStatus) return [];
  if (Array.isArray(value)) return value.flatMap((item: unknown) => timesInStatus(item, depth + 1));
  if (!isRecord(value)) return [];
  return Object.entries(value).flatMap(([name, field]) =>
    statusTimes.has(name) ? seconds(field) : timesInStatus(field, depth + 1),
  );
}

/** The time in a field, seconds since the epoch; empty where the field is no time. YAML and JSON both give text. */
function seconds(field: unknown): readonly number[] {
  if (typeof field !== "string" || !/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?(Z|[+-]\d\d:\d\d)$/.test(field)) return [];
  const milliseconds = Date.parse(field);
  return Number.isNaN(milliseconds) ? [] : [milliseconds / 1000];
}
