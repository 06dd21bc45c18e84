import { join } from "node:path";
import { readTable } from "../../../simulator/traceTable.ts";
import type { AcmeResult } from "./acmeResult.ts";

const clusters = ["seren", "kalos"] as const;
/** Up to this percentage a signal counts as idle, as in the states of GPUs. */
const idlePercent = 5;

/** A point of a distribution: so many percent of the samples are at most `x`. */
export interface CdfPoint {
  readonly x: number;
  readonly percent: number;
}

/** Reads the distributions, by `cluster metric`. Throws if the file cannot be read. */
export function readCdfs(folder: string): ReadonlyMap<string, readonly CdfPoint[]> {
  const found = new Map<string, CdfPoint[]>();
  for (const row of readTable(join(folder, "gpu_cdf.csv.gz"))) {
    const key = `${row("cluster")} ${row("metric")}`;
    const points = found.get(key) ?? [];
    found.set(key, points);
    points.push({ x: Number(row("x")), percent: Number(row("cdf_percent")) });
  }
  return found;
}

/** What the distributions of each cluster say. Pure. */
export function acmeStudy(cdfs: ReadonlyMap<string, readonly CdfPoint[]>): AcmeResult {
  return {
    trace: "acme",
    rows: clusters.map((cluster) => {
      const util = cdfs.get(`${cluster} gpu_util`) ?? [];
      const sm = cdfs.get(`${cluster} sm_active`) ?? [];
      return {
        cluster,
        utilZero: shareUpTo(util, 0),
        utilIdle: shareUpTo(util, idlePercent),
        smIdle: shareUpTo(sm, idlePercent),
        utilMedian: median(util),
        smMedian: median(sm),
      };
    }),
  };
}

const shareUpTo = (points: readonly CdfPoint[], most: number): number =>
  points.reduce((share, { x, percent }) => (x <= most ? Math.max(share, percent) : share), 0);

const median = (points: readonly CdfPoint[]): number => points.find(({ percent }) => percent >= 50)?.x ?? 0;
