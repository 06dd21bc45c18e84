import type { Config } from "../../exporter/config/schema.ts";
import type { ClusterState, ObjectKind, OwnerObject } from "../../exporter/model/cluster.ts";
import { gpuLikeResource } from "../../exporter/model/gpuResource.ts";
import type { Problem } from "../../exporter/model/problem.ts";
import { noQueueObjects, unknownSchedulerSettings } from "../../exporter/model/queues/queueObjects.ts";
import type { TelemetryPage } from "../../exporter/model/telemetry.ts";
import { splitByHost } from "../../exporter/sources/dcgm/reduce.ts";
import type { Decoded } from "../../exporter/sources/kubernetes/decoded.ts";
import { decodeNamespace } from "../../exporter/sources/kubernetes/decodeNamespace.ts";
import { decodeNode } from "../../exporter/sources/kubernetes/decodeNode.ts";
import { decodeOwner } from "../../exporter/sources/kubernetes/decodeOwner.ts";
import { decodePod } from "../../exporter/sources/kubernetes/decodePod.ts";
import { decodePodDisruptionBudget } from "../../exporter/sources/kubernetes/decodePodDisruptionBudget.ts";
import { decodePriorityClass } from "../../exporter/sources/kubernetes/decodePriorityClass.ts";
import { decodeResourceClaim } from "../../exporter/sources/kubernetes/decodeResourceClaim.ts";
import { decodeResourceSlice } from "../../exporter/sources/kubernetes/decodeResourceSlice.ts";
import { placePage } from "./pageNodes.ts";
import { type DumpFile, type DumpFiles, skipped } from "./readFiles.ts";
import { type DumpObject, readObjects } from "./readObjects.ts";

/** A captured cluster: what one cycle would have read, and when. */
export interface Dump {
  readonly state: ClusterState;
  /** Seconds since the epoch. */
  readonly at: number;
}

/** What a decoded object goes into. */
interface Growing {
  readonly nodes: ClusterState["nodes"][number][];
  readonly pods: ClusterState["pods"][number][];
  readonly namespaces: ClusterState["namespaces"][number][];
  readonly priorityClasses: ClusterState["priorityClasses"][number][];
  readonly podDisruptionBudgets: ClusterState["podDisruptionBudgets"][number][];
  readonly resourceClaims: ClusterState["resourceClaims"][number][];
  readonly resourceSlices: ClusterState["resourceSlices"][number][];
  readonly owners: OwnerObject[];
}

const kinds: Readonly<Record<string, ObjectKind>> = {
  Node: "nodes",
  Pod: "pods",
  Namespace: "namespaces",
  PriorityClass: "priorityClasses",
  PodDisruptionBudget: "podDisruptionBudgets",
  ResourceClaim: "resourceClaims",
  ResourceSlice: "resourceSlices",
};

/** Turns the files of a dump into the state that a cycle would have read. `at` is `null` to take the dump's own time. */
export function readDump(dump: DumpFiles, config: Config, at: number | null): Dump {
  const problems: Problem[] = [...dump.problems];
  const found: Growing = {
    nodes: [],
    pods: [],
    namespaces: [],
    priorityClasses: [],
    podDisruptionBudgets: [],
    resourceClaims: [],
    resourceSlices: [],
    owners: [],
  };
  const known = new Set<ObjectKind>();
  const nodeOfPod = new Map<string, string>();
  // The same object twice (a List and a copy, two files) is one: the one read last.
  const objects = new Map<string, { readonly object: DumpObject; readonly file: DumpFile }>();
  const gpuResources = new Set(Object.keys(config.gpu.resources));
  for (const file of dump.files) {
    if (file.kind !== "objects") continue;
    const read = readObjects(file);
    problems.push(...read.problems);
    for (const kind of read.listed) if (Object.hasOwn(kinds, kind)) known.add(kinds[kind] ?? "owners");
    for (const object of read.objects) objects.set(identityOf(object) ?? `#${objects.size}`, { object, file });
  }
  for (const { object, file } of objects.values())
    decodeInto(object, file, found, known, nodeOfPod, gpuResources, problems);
  if (known.has("pods")) known.add("owners");
  const when = at ?? newestTime(dump.files);
  const state = {
    ...found,
    queues: noQueueObjects,
    schedulerSettings: unknownSchedulerSettings,
    evictions: [],
    requestsByNode: null,
    known,
    problems,
  };
  return { at: when, state: { ...state, telemetry: readPages(dump.files, state, nodeOfPod, when, problems) } };
}

/** What the API server tells objects apart by; `null` without a name. */
function identityOf({ kind, apiVersion, value }: DumpObject): string | null {
  const { metadata } = value;
  if (typeof metadata !== "object" || metadata === null || !("name" in metadata)) return null;
  const group = apiVersion.includes("/") ? apiVersion.slice(0, apiVersion.indexOf("/")) : "";
  const namespace = "namespace" in metadata ? metadata.namespace : "";
  return typeof metadata.name === "string" ? JSON.stringify([group, kind, namespace, metadata.name]) : null;
}

function decodeInto(
  object: DumpObject,
  file: DumpFile,
  found: Growing,
  known: Set<ObjectKind>,
  nodeOfPod: Map<string, string>,
  gpuResources: ReadonlySet<string>,
  problems: Problem[],
): void {
  const keep = <T>(decoded: Decoded<T>, into: T[]): void => {
    if (decoded.ok) into.push(decoded.value);
    else problems.push({ ...decoded.problem, message: `${file.path}: ${decoded.problem.message}` });
  };
  const kind = Object.hasOwn(kinds, object.kind) ? kinds[object.kind] : undefined;
  if (kind !== undefined) known.add(kind);
  switch (object.kind) {
    case "Node":
      keep(decodeNode(object.value), found.nodes);
      return;
    case "Pod": {
      notePod(object.value, nodeOfPod);
      const decoded = decodePod(object.value, { gpuResources, exporters: [] });
      if (!decoded.ok) problems.push({ ...decoded.problem, message: `${file.path}: ${decoded.problem.message}` });
      else if (decoded.value.gpuPod !== null) found.pods.push(decoded.value.gpuPod);
      return;
    }
    case "Namespace":
      keep(decodeNamespace(object.value), found.namespaces);
      return;
    case "PriorityClass":
      keep(decodePriorityClass(object.value), found.priorityClasses);
      return;
    case "PodDisruptionBudget":
      keep(decodePodDisruptionBudget(object.value), found.podDisruptionBudgets);
      return;
    case "ResourceClaim":
      keep(decodeResourceClaim(object.value), found.resourceClaims);
      return;
    case "ResourceSlice":
      keep(decodeResourceSlice(object.value), found.resourceSlices);
      return;
    case "Secret":
      problems.push(skipped(file.path, "it holds a Secret, which Fairlead never reads"));
      return;
    default:
      keep(decodeOwner(object.value), found.owners);
      return;
  }
}

function notePod(value: DumpObject["value"], nodeOfPod: Map<string, string>): void {
  const { metadata, spec } = value;
  if (typeof metadata !== "object" || metadata === null || !("name" in metadata) || typeof metadata.name !== "string")
    return;
  if (typeof spec !== "object" || spec === null || !("nodeName" in spec) || typeof spec.nodeName !== "string") return;
  nodeOfPod.set(metadata.name, spec.nodeName);
}

function readPages(
  files: readonly DumpFile[],
  state: Omit<ClusterState, "telemetry">,
  nodeOfPod: ReadonlyMap<string, string>,
  at: number,
  problems: Problem[],
): readonly TelemetryPage[] {
  const read: { readonly page: TelemetryPage; readonly stem: string }[] = [];
  for (const file of files) {
    if (file.kind !== "page") continue;
    const split = splitByHost(file.bytes, { target: file.path, node: null, receivedAt: at, origin: "file" });
    problems.push(...split.problems);
    read.push(...split.pages.map((page) => ({ page: { ...page, node: page.hostLabel }, stem: file.stem })));
  }
  const nodeOfUuid = new Map<string, string>();
  for (const slice of state.resourceSlices) {
    for (const device of slice.devices) {
      const { uuid } = device.attributes;
      if (typeof uuid === "string" && slice.nodeName !== null) nodeOfUuid.set(uuid, slice.nodeName);
    }
  }
  const holders = new Set(nodeOfUuid.values());
  const likely = state.nodes.filter((node) => looksLikeGpuNode(node.capacity, node.labels));
  const named = state.nodes.filter((node) => holders.size === 0 || holders.has(node.name));
  const gpuNodes = (likely.length > 0 ? likely : named).map((node) => node.name);
  const clues = { nodes: state.nodes, nodeOfPod, nodeOfUuid, gpuNodes };
  return read.map(({ page, stem }) => {
    const placed = placePage(page, stem, read.length, clues);
    problems.push(...placed.problems);
    return placed.page;
  });
}

function looksLikeGpuNode(
  capacity: Readonly<Record<string, number>>,
  labels: Readonly<Record<string, string>>,
): boolean {
  return (
    Object.keys(capacity).some((name) => gpuLikeResource(name)) ||
    Object.keys(labels).some((name) => name.startsWith("nvidia.com/gpu"))
  );
}

/** The newest moment that any object names, else the newest file's: when the dump was taken, as far as it says. */
function newestTime(files: readonly DumpFile[]): number {
  let newest = 0;
  for (const file of files) {
    if (file.kind !== "objects") continue;
    for (const match of file.bytes.toString("latin1").matchAll(/\b20\d\d-[01]\d-[0-3]\dT[0-2]\d:[0-5]\d:[0-6]\dZ/g)) {
      const time = Date.parse(match[0]) / 1000;
      if (time > newest) newest = time;
    }
  }
  return newest > 0 ? newest : Math.max(0, ...files.map((file) => file.modifiedAt));
}
