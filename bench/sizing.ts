import { cpuMs, figure, type Results, readResults, sizesOf } from "./results.ts";

/** What a replica should request and may use, for a size of the cluster. */
export interface Sizing {
  readonly nodes: number;
  /** Resident memory that was measured, in MiB. */
  readonly residentMiB: number;
  /** CPU time of a cycle of 30 s, as a part of one core. */
  readonly cores: number;
  readonly requests: { readonly cpu: string; readonly memory: string };
  readonly limits: { readonly memory: string };
}

const cycleMs = 30_000;
/** Smaller clusters need what a cluster of this size needs. */
const fewestNodes = 1000;

/**
 * Resources by size, from the bench. CPU is four times the mean, because queues, advice and garbage collection come on top of
 * the measured cycle. Memory is a quarter more than was resident, and the limit is twice that.
 */
export function sizings(results: Results = readResults()): readonly Sizing[] {
  const sizes = sizesOf(results, "cycle").filter((nodes) => nodes >= fewestNodes);
  return sizes.map((nodes) => {
    const residentMiB = figure(results, `cycle@${nodes}`, "rssMiB");
    const cores = cpuMs(results, `cycle@${nodes}`, "whole cycle") / cycleMs;
    const millicores = Math.max(250, 50 * Math.ceil((4 * cores * 1000) / 50));
    return {
      nodes,
      residentMiB,
      cores,
      requests: { cpu: `${millicores}m`, memory: binary(256 * Math.max(2, Math.ceil((1.25 * residentMiB) / 256))) },
      limits: { memory: binary(512 * Math.ceil((2 * residentMiB) / 512)) },
    };
  });
}

function binary(mebibytes: number): string {
  return mebibytes % 1024 === 0 ? `${mebibytes / 1024}Gi` : `${mebibytes}Mi`;
}

/** The same resources as a Markdown table. */
export function sizingTable(): string {
  return [
    "| nodes | GPUs | resident, measured | CPU, measured | `resources.requests` | `resources.limits` |",
    "|---|---|---|---|---|---|",
    ...sizings().map(
      ({ nodes, residentMiB, cores, requests, limits }) =>
        `| ${nodes.toLocaleString("en-US")} | ${(8 * nodes).toLocaleString("en-US")} | ${Math.round(residentMiB)} MiB | ${cores.toFixed(3)} cores | cpu ${requests.cpu}, memory ${requests.memory} | memory ${limits.memory} |`,
    ),
  ].join("\n");
}
