import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { gunzipSync } from "node:zlib";
import type { Problem } from "../../exporter/model/problem.ts";
import { type GpuModelName, gpuModels } from "../gpuModels.ts";
import { noQueueing } from "../queues/spec.ts";
import { hashText } from "../random.ts";
import type { ActivityPattern, GpuRequest, NodeSpec, PlacedPod, Scenario } from "../scenario.ts";
import { type CsvRow, readTable } from "../traceTable.ts";
import { gpuNode, workloadOf } from "./parts.ts";

export interface TraceOptions {
  /** The number of teams, to which pods are assigned by their names; default 8. */
  readonly teams?: number;
  /** How many of the nodes are taken, from the first on, with what runs on them; default: all. */
  readonly nodes?: number;
}

export type TraceResult =
  | { readonly ok: true; readonly scenario: Scenario }
  | { readonly ok: false; readonly problem: Problem };

/**
 * The openb cluster of Alibaba (1,213 GPU nodes, 6,212 GPUs) under `tracesDir/openb`, filled to 75 % by a placement
 * that names the GPU of each pod. Shares of a GPU become KAI fractions, so that truth is exact. Activity follows the
 * recorded duty cycles under `tracesDir/genai-2026` where that folder exists, else made-up habits.
 */
export function traceScenario(tracesDir: string, options: TraceOptions = {}): TraceResult {
  const folder = join(tracesDir, "openb");
  const files = ["openb_node_list_gpu_node.csv", "openb_pod_list_default.csv", "placed_random75.csv.gz"] as const;
  const missing = files.find((file) => !existsSync(join(folder, file)));
  if (missing !== undefined) return { ok: false, problem: missingFile(join(folder, missing)) };
  const [nodeRows, podRows, placedRows] = [table(folder, files[0]), table(folder, files[1]), table(folder, files[2])];
  const nodes = nodeRows.slice(0, options.nodes).flatMap(traceNode);
  const known = new Set(nodes.map((node) => node.name));
  const pods = new Map(podRows.map((row) => [row("name"), row]));
  const teams = options.teams ?? 8;
  const activityOf = activitySource(tracesDir);
  const placed = placedRows.flatMap((row) => {
    const pod = pods.get(row("pod"));
    const isHere = row("node") === "" ? options.nodes === undefined : known.has(row("node"));
    return pod === undefined || !isHere ? [] : [tracePod(row, pod, teams, activityOf)];
  });
  const namespaces = Array.from({ length: teams }, (_, i) => ({ name: `team-${i}`, team: `team-${i}` }));
  return {
    ok: true,
    scenario: {
      name: "openb",
      nodes,
      namespaces,
      priorityClasses: { "latency-sensitive": 1000, "best-effort": -100 },
      habits: [],
      queueing: noQueueing,
      placed,
      placement: "pack",
      warmupSeconds: 60,
      collectionInterval: 30,
      faults: [],
    },
  };
}

function missingFile(path: string): Problem {
  return {
    source: "simulator",
    code: "trace-missing",
    severity: "error",
    subject: path,
    message: `the trace file ${path} does not exist`,
    nextStep: "Name the folder that holds openb/ (and genai-2026/), or use another scenario.",
  };
}

const table = (folder: string, file: string): readonly CsvRow[] => readTable(join(folder, file));

function traceNode(row: CsvRow): readonly NodeSpec[] {
  const model = modelNamed(row("model"));
  if (model === null) return [];
  const sizes = { cpuMilli: Number(row("cpu_milli")), memoryMiB: Number(row("memory_mib")) };
  const instanceType = `openb.${model.toLowerCase()}.x${row("gpu")}`;
  return [gpuNode(row("sn"), model, Number(row("gpu")), { kind: "kai" }, { ...sizes, instanceType })];
}

function modelNamed(name: string): GpuModelName | null {
  const known: readonly GpuModelName[] = ["P100", "T4", "V100M16", "V100M32", "A10", "G2", "G3"];
  const found = known.find((each) => each === name);
  return found === undefined || gpuModels[found] === undefined ? null : found;
}

function tracePod(row: CsvRow, pod: CsvRow, teams: number, activityOf: (name: string) => ActivityPattern): PlacedPod {
  const name = pod("name");
  const namespace = `team-${hashText(name) % teams}`;
  const priorityClass = pod("qos") === "BE" ? "best-effort" : pod("qos") === "LS" ? "latency-sensitive" : null;
  const request = traceRequest(Number(pod("num_gpu")), Number(pod("gpu_milli")));
  const activity = request.kind === "none" ? ({ kind: "constant", level: 0 } as const) : activityOf(name);
  const workload = workloadOf("Pod", namespace, 1, request, activity, {
    cpuMilli: Number(pod("cpu_milli")),
    memoryMiB: Number(pod("memory_mib")),
    priorityClass,
    queue: request.kind === "fraction" ? namespace : null,
  });
  const physicalGpus = row("gpu_index") === "" ? [] : row("gpu_index").split("-").map(Number);
  return {
    name,
    workload,
    node: row("node") === "" ? null : row("node"),
    physicalGpus,
    ageSeconds: hashText(name) % 604_800,
  };
}

function traceRequest(count: number, milli: number): GpuRequest {
  if (count === 0) return { kind: "none" };
  return milli < 1000 ? { kind: "fraction", share: milli / 1000 } : { kind: "physicalGpus", count };
}

/** The activity of pods: each follows one recorded pod, from a moment that depends on its name. */
function activitySource(tracesDir: string): (name: string) => ActivityPattern {
  const file = join(tracesDir, "genai-2026", "pod_gpu_duty_cycle.csv.gz");
  const series = existsSync(file) ? dutyCycles(gunzipSync(readFileSync(file)).toString("latin1")) : [];
  return (name) => {
    const hash = hashText(name, 0x1000193);
    const values = series[hash % Math.max(1, series.length)];
    if (values !== undefined) return { kind: "series", stepSeconds: 57, offset: (hash >>> 8) % values.length, values };
    const made: readonly ActivityPattern[] = [
      { kind: "steady", level: 0.85 },
      { kind: "bursts", level: 0.6, duty: 0.4 },
      { kind: "notebook", duty: 0.1 },
    ];
    return made[hash % made.length] ?? { kind: "constant", level: 0 };
  };
}

const stepSeconds = 57;

/**
 * Series of `pod_gpu_duty_cycle.csv` (columns value in percent, timestamp, pod id) as ratios, one per pod, on a common
 * grid of 57 s. A step without a row keeps the value before it; before the first row it is 0.
 */
function dutyCycles(csv: string): readonly Float64Array[] {
  const samples = new Map<string, [number, number][]>();
  let first = Number.POSITIVE_INFINITY;
  let last = 0;
  let start = csv.indexOf("\n") + 1;
  while (start > 0 && start < csv.length) {
    const lineEnd = csv.indexOf("\n", start);
    const end = lineEnd === -1 ? csv.length : lineEnd;
    const [value = "0", at = "0", pod = ""] = csv.slice(start, end).trimEnd().split(",");
    const seconds = Number(at);
    first = Math.min(first, seconds);
    last = Math.max(last, seconds);
    const rows = samples.get(pod);
    if (rows === undefined) samples.set(pod, [[seconds, Number(value)]]);
    else rows.push([seconds, Number(value)]);
    start = end + 1;
  }
  const length = Math.max(1, Math.round((last - first) / stepSeconds) + 1);
  return [...samples.values()].map((rows) => onGrid(rows, first, length));
}

function onGrid(rows: readonly (readonly [number, number])[], first: number, length: number): Float64Array {
  const values = new Float64Array(length).fill(-1);
  for (const [seconds, percent] of rows) values[Math.round((seconds - first) / stepSeconds)] = percent / 100;
  let before = 0;
  for (let i = 0; i < length; i++) {
    const value = values[i] ?? -1;
    before = value < 0 ? before : value;
    values[i] = before;
  }
  return values;
}
