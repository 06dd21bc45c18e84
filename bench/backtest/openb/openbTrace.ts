import { join } from "node:path";
import { readTable } from "../../../simulator/traceTable.ts";

/** A node of the trace. */
export interface TraceNode {
  readonly name: string;
  readonly cpuMilli: number;
  readonly memoryMiB: number;
  readonly gpus: number;
  /** As the trace names it: T4, G2, ... */
  readonly model: string;
}

/** A job of the trace; the paper calls it a task, Kubernetes a pod. */
export interface TracePod {
  readonly name: string;
  readonly cpuMilli: number;
  readonly memoryMiB: number;
  /** GPUs that it asks for; 0: none. */
  readonly gpus: number;
  /** Thousandths of each of its GPUs; below 1,000 only for one GPU, 0 without GPUs. */
  readonly gpuMilli: number;
  /** `LS` is latency-sensitive, which is serving; `BE` is best effort. */
  readonly qos: string;
  readonly phase: string;
  /** Seconds from its start to its end; 0 if it never started. */
  readonly ranSeconds: number;
}

/** What the trace says. */
export interface OpenbTrace {
  readonly nodes: readonly TraceNode[];
  readonly pods: readonly TracePod[];
}

/** Reads the two lists of the trace from its folder. Throws if one of them cannot be read. */
export function readOpenb(folder: string): OpenbTrace {
  const nodes = readTable(join(folder, "openb_node_list_gpu_node.csv")).map((row) => ({
    name: row("sn"),
    cpuMilli: Number(row("cpu_milli")),
    memoryMiB: Number(row("memory_mib")),
    gpus: Number(row("gpu")),
    model: row("model"),
  }));
  const pods = readTable(join(folder, "openb_pod_list_default.csv")).map((row): TracePod => {
    const gpus = Number(row("num_gpu"));
    const started = row("scheduled_time");
    return {
      name: row("name"),
      cpuMilli: Number(row("cpu_milli")),
      memoryMiB: Number(row("memory_mib")),
      gpus,
      gpuMilli: gpus === 0 ? 0 : Number(row("gpu_milli")),
      qos: row("qos"),
      phase: row("pod_phase"),
      ranSeconds: started === "" ? 0 : Math.max(0, Number(row("deletion_time")) - Number(started)),
    };
  });
  return { nodes, pods };
}

/** Thousandths of GPUs that a pod asks for in all. */
export const milliOf = ({ gpus, gpuMilli }: Pick<TracePod, "gpus" | "gpuMilli">): number => gpus * gpuMilli;
