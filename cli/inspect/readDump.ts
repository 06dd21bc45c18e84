import type { Config } from "../../exporter/config/schema.ts";
import { apiGroup } from "../../exporter/model/apiGroup.ts";
import type { ClusterState, ObjectKind, OwnerObject } from "../../exporter/model/cluster.ts";
import { noPrices } from "../../exporter/model/prices.ts";
import type { Problem } from "../../exporter/model/problem.ts";
import type { TelemetryPage } from "../../exporter/model/telemetry.ts";
import { reservationNamespaces } from "../../exporter/model/wellKnown.ts";
import { systemClock } from "../../exporter/sources/kubernetes/clock.ts";
import type { Decoded } from "../../exporter/sources/kubernetes/decoded.ts";
import { decodeOwner } from "../../exporter/sources/kubernetes/decodeOwner.ts";
import { decodePod } from "../../exporter/sources/kubernetes/decodePod.ts";
import { selectorProblems } from "../../exporter/sources/kubernetes/exporterPods.ts";
import { recordDecoders } from "../../exporter/sources/kubernetes/kindDecoders.ts";
import { createKindTables, type RecordKind, type RecordTables } from "../../exporter/sources/kubernetes/kindTables.ts";
import { createEvictionWatch } from "../../exporter/sources/kubernetes/queues/evictionWatch.ts";
import { stateOf } from "../../exporter/sources/kubernetes/state.ts";
import { labelsInRules } from "../labelsInRules.ts";
import { watchedKindOf } from "./dumpKinds.ts";
import { readPages } from "./dumpPages.ts";
import { createDumpSettings } from "./dumpSettings.ts";
import { timeOfDump } from "./dumpTime.ts";
import { kindsInName } from "./kindsInName.ts";
import { type DumpFile, type DumpFiles, skipped } from "./readFiles.ts";
import { type DumpObject, readObjects } from "./readObjects.ts";

/** A captured cluster: what one cycle would have read, and when. */
export interface Dump {
  readonly state: ClusterState;
  /** When it was captured, seconds since the epoch. */
  readonly at: number;
}

/** Turns the files of a dump into the state that a cycle would have read. `at` is `null` to take the dump's own time. */
export function readDump(dump: DumpFiles, config: Config, at: number | null): Dump {
  const problems: Problem[] = [...dump.problems, ...selectorProblems(config.dcgm.discovery)];
  const known = new Set<ObjectKind>();
  const owners: OwnerObject[] = [];
  const evictions = createEvictionWatch(systemClock);
  const tables = createKindTables(evictions);
  const ofRecords: RecordTables = tables;
  const nodeOfPod = new Map<string, string>();
  const podNamespaces = new Set<string>();
  const settings = createDumpSettings(config, problems);
  const gpuResources = new Set(Object.keys(config.gpu.resources));
  const readLabels = new Set(labelsInRules(config));
  const decoders = recordDecoders({ gpuResources, kaiNodePoolLabel: config.queues.kai.nodePoolLabel });

  const recordsOf = <T>(decoded: Decoded<T>, file: DumpFile): readonly T[] => {
    if (decoded.ok) return [decoded.value];
    problems.push({ ...decoded.problem, message: `${file.path}: ${decoded.problem.message}` });
    return [];
  };
  const keepRecord = <Kind extends RecordKind>(kind: Kind, key: string, value: unknown, file: DumpFile): void => {
    for (const record of recordsOf(decoders[kind](value), file)) ofRecords[kind].put(key, record);
  };
  const keepPod = (key: string, value: DumpObject["value"], file: DumpFile): void => {
    notePod(value, nodeOfPod);
    const decoded = decodePod(value, { gpuResources, exporters: config.dcgm.discovery, readLabels });
    for (const row of recordsOf(decoded, file)) {
      tables.pods.put(key, row);
      podNamespaces.add(row.pod.namespace);
    }
  };

  const keepOther = (object: DumpObject, file: DumpFile): void => {
    if (object.kind === "ConfigMap") settings.take(object.value, file.path);
    owners.push(...recordsOf(decodeOwner(object.value), file));
  };

  const { objects, listed } = distinctObjects(dump.files, problems);
  for (const kind of listed) known.add(kind);
  for (const [key, { object, file }] of objects) {
    const kind = watchedKindOf(object.kind, object.apiVersion);
    if (kind !== null) known.add(kind);
    if (kind === "pods") keepPod(key, object.value, file);
    else if (kind !== null) keepRecord(kind, key, object.value, file);
    else if (object.kind === "Secret")
      problems.push(skipped(file.path, "it holds a Secret, which Fairlead never reads"));
    else keepOther(object, file);
  }
  if (known.has("pods")) known.add("owners");
  const all = [...objects.values()].map(({ object }) => object);
  const when = at ?? timeOfDump(all, dump.files);
  const read = stateOf({
    tables,
    owners: () => owners,
    known,
    resourceVersions: {},
    autoscalerNodeGroups: settings.autoscalerNodeGroups(),
    schedulerSettings: settings.settings(),
    kueuePendingWorkloads: new Map(),
    evictions: evictions.all(),
  });
  // Owners count even without pods: work that waits in a queue has owners, too.
  const state = { ...read, owners, prices: noPrices, podNamespaces, problems };
  const telemetry = readPages(dump.files, state, nodeOfPod, when, problems);
  problems.push(...unreadPods(telemetry, known.has("pods") ? podNamespaces : null));
  return { at: when, state: { ...state, telemetry } };
}

const shownPods = 3;

/**
 * One problem for each namespace whose pods are named on pages but missing from the dump. Whoever took the dump may be allowed
 * to see only a part of the namespaces, and GPUs that others hold must not look free. If no pods were read at all (`null`),
 * that is reported elsewhere, and only the namespaces of reservation pods have a problem here.
 */
function unreadPods(pages: readonly TelemetryPage[], podNamespaces: ReadonlySet<string> | null): readonly Problem[] {
  const isReportedOf = (namespace: string) =>
    podNamespaces === null ? reservationNamespaces.has(namespace) : !podNamespaces.has(namespace);
  const pods = new Map<string, Set<string>>();
  for (const { namespace, pod } of pages.flatMap(({ devices }) => devices.flatMap(({ claimants }) => claimants))) {
    if (!isReportedOf(namespace)) continue;
    const known = pods.get(namespace) ?? new Set();
    pods.set(namespace, known.add(pod));
  }
  return [...pods]
    .sort(([a], [b]) => (a < b ? -1 : 1))
    .map(([namespace, names]) => lineOf(namespace, [...names].sort()));
}

function lineOf(namespace: string, names: readonly string[]): Problem {
  const more = names.length > shownPods ? `, and ${names.length - shownPods} more` : "";
  const instead = reservationNamespaces.has(namespace)
    ? "they keep GPUs for pods that nothing names, so that these GPUs are unattributed"
    : "the GPUs on which the pages show them count as held by them";
  return {
    source: "inspect",
    code: "pods-not-in-dump",
    severity: "warning",
    subject: namespace,
    message: `the dump has no pod of namespace ${namespace}, and pages name ${names.length} (${names.slice(0, shownPods).join(", ")}${more}): ${instead}`,
    nextStep: "Add the pods of all namespaces to the dump: kubectl get pods -A -o json > pods.json",
  };
}

/**
 * All objects, each once. If the same object occurs twice (in a List and a copy, or in two files), the one that was read last
 * counts.
 */
function distinctObjects(files: readonly DumpFile[], problems: Problem[]) {
  const objects = new Map<string, { readonly object: DumpObject; readonly file: DumpFile }>();
  const listed = new Set<ObjectKind>();
  for (const file of files) {
    if (file.kind !== "objects") continue;
    const read = readObjects(file);
    problems.push(...read.problems);
    for (const { kind, apiVersion } of read.listed) {
      const watched = watchedKindOf(kind, apiVersion);
      if (watched !== null) listed.add(watched);
    }
    if (read.hasEmptyList) {
      const named = kindsInName(file.stem);
      for (const kind of named ?? []) listed.add(kind);
      if (named === null) problems.push(emptyList(file));
    }
    for (const object of read.objects) objects.set(identityOf(object) ?? `#${objects.size}`, { object, file });
  }
  return { objects, listed };
}

/** The problem of an empty List: `kubectl get` writes the same one for every kind. */
function emptyList({ path }: DumpFile): Problem {
  return {
    source: "inspect",
    code: "empty-list",
    severity: "info",
    subject: path,
    message: `${path} is an empty List, and its name says no kind that Fairlead reads: of what there is none is not known`,
    nextStep: "Name the file after the kind that was asked for, such as poddisruptionbudgets.json.",
  };
}

/** What the API server distinguishes objects by; `null` without a name. */
function identityOf({ kind, apiVersion, value }: DumpObject): string | null {
  const { metadata } = value;
  if (typeof metadata !== "object" || metadata === null || !("name" in metadata)) return null;
  const namespace = "namespace" in metadata ? metadata.namespace : "";
  return typeof metadata.name === "string"
    ? JSON.stringify([apiGroup(apiVersion), kind, namespace, metadata.name])
    : null;
}

function notePod(value: DumpObject["value"], nodeOfPod: Map<string, string>): void {
  const { metadata, spec } = value;
  if (typeof metadata !== "object" || metadata === null || !("name" in metadata) || typeof metadata.name !== "string")
    return;
  if (typeof spec !== "object" || spec === null || !("nodeName" in spec) || typeof spec.nodeName !== "string") return;
  nodeOfPod.set(metadata.name, spec.nodeName);
}
