import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { gunzipSync } from "node:zlib";
import type { NaiveNode, NaiveTask } from "../analysis/placement/naiveFragmentation.ts";

/** The folder of the traces. */
export const traces = process.env.FAIRLEAD_TRACES ?? join(import.meta.dirname, "../../../shared/traces");

/** Says so where it is not there. */
export function hasOpenb(): boolean {
  const isThere = existsSync(join(traces, "openb", "placed_random75.csv.gz"));
  if (!isThere) process.stdout.write("skipped: no openb trace; set FAIRLEAD_TRACES to the folder that holds openb/\n");
  return isThere;
}

type Row = (column: string) => string;

/** Rows of a csv file without quotes: read here, so that nothing of the simulator is trusted. */
function rows(file: string): readonly Row[] {
  const bytes = readFileSync(join(traces, "openb", file));
  const text = (file.endsWith(".gz") ? gunzipSync(bytes) : bytes).toString("utf8");
  const [head, ...lines] = text.trim().split(/\r?\n/);
  const names = (head ?? "").split(",");
  return lines.map((line) => {
    const cells = new Map(line.split(",").map((cell, i) => [names[i] ?? "", cell] as const));
    return (column) => cells.get(column) ?? "";
  });
}

const mebibyte = 2 ** 20;

/** What a pod of the list asks for. */
export type TracePod = Omit<NaiveTask, "popularity">;

/** The pods of a list by name. */
export function podsOf(
  file: "openb_pod_list_default.csv" | "openb_pod_list_gpuspec33.csv",
): ReadonlyMap<string, TracePod> {
  return new Map(
    rows(file).map((row) => [
      row("name"),
      {
        cpu: Number(row("cpu_milli")),
        memory: Number(row("memory_mib")) * mebibyte,
        gpus: Number(row("num_gpu")),
        share: Number(row("num_gpu")) === 0 ? 0 : Number(row("gpu_milli")) / 1000,
        models: row("gpu_spec") === "" ? [] : row("gpu_spec").split("|"),
      },
    ]),
  );
}

/** A node of the trace with what it has left. */
export interface TraceNode extends NaiveNode {
  readonly name: string;
}

/** All nodes with GPUs, empty. */
export function emptyNodes(): readonly TraceNode[] {
  return rows("openb_node_list_gpu_node.csv").map((row) => ({
    name: row("sn"),
    cpu: Number(row("cpu_milli")),
    memory: Number(row("memory_mib")) * mebibyte,
    free: Array.from({ length: Number(row("gpu")) }, () => 1),
    model: row("model"),
  }));
}

/** Where each pod of the placement is, and on which GPUs; `null`: it waits. */
export function placements(): ReadonlyMap<
  string,
  { readonly node: string; readonly physicalGpus: readonly number[] } | null
> {
  return new Map(
    rows("placed_random75.csv.gz").map((row) => {
      const physicalGpus = row("gpu_index") === "" ? [] : row("gpu_index").split("-").map(Number);
      return [row("pod"), row("node") === "" ? null : { node: row("node"), physicalGpus }];
    }),
  );
}

interface Left {
  readonly node: TraceNode;
  cpu: number;
  memory: number;
  readonly milli: number[];
}

/** All nodes with what the placement leaves of them, exact to the thousandth of a GPU. */
export function placedNodes(): readonly TraceNode[] {
  const pods = podsOf("openb_pod_list_default.csv");
  const left = new Map<string, Left>();
  for (const node of emptyNodes()) {
    const { cpu, memory, free } = node;
    left.set(node.name, { node, cpu, memory, milli: free.map(() => 1000) });
  }
  for (const [name, place] of placements()) {
    const pod = pods.get(name);
    const on = left.get(place?.node ?? "");
    if (pod === undefined || on === undefined || place === null) continue;
    on.cpu -= pod.cpu;
    on.memory -= pod.memory;
    for (const physicalGpu of place.physicalGpus)
      on.milli[physicalGpu] = (on.milli[physicalGpu] ?? 0) - Math.round(pod.share * 1000);
  }
  return [...left.values()].map(({ node, cpu, memory, milli }) => ({
    ...node,
    cpu,
    memory,
    free: milli.map((one) => one / 1000),
  }));
}
