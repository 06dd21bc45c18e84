import { playInMemory } from "../../../cli/demo/playInMemory.ts";
import type { Analysis } from "../../../exporter/analysis/analysis.ts";
import { configSchema } from "../../../exporter/config/schema.ts";
import { mixedCluster } from "../../simulator/scenarios/activity/mixedCluster.ts";
import { createHealthWatch, type HealthWatch } from "./watchHealth.ts";
import { createWorkWatch, type WorkOutcome } from "./watchWork.ts";

/** What one mixed cluster came to. */
export interface MixedOutcome {
  readonly seed: number;
  readonly works: readonly WorkOutcome[];
  readonly health: ReturnType<HealthWatch["outcomes"]>;
}

/** A Monday at noon. */
const startAt = Date.parse("2026-11-16T12:00:00Z") / 1000;
const step = 60;
export const playedMinutes = 185;

/** Plays a mixed cluster for three hours with the real exporter; `onCycle` sees each of its moments. */
export async function playMixed(seed: number, onCycle?: (analysis: Analysis) => void): Promise<MixedOutcome> {
  const cluster = mixedCluster(seed);
  const { scenario } = cluster;
  const config = configSchema.parse({
    cluster: "mixed",
    interval: step,
    teams: [{ from: "namespace-label", key: "team" }],
    serving: { discovery: [{ namespaces: scenario.namespaces.map(({ name }) => name) }] },
    gpu: { power: { A30: { idleWatts: 30, fullWatts: 165 } } },
    advice: { enabled: false },
  });
  const play = await playInMemory({ scenario, seed, startAt, config });
  const works = createWorkWatch(cluster, step);
  const health = createHealthWatch(cluster, step);
  try {
    for (let minute = 1; minute <= playedMinutes; minute++) {
      await play.step(step);
      const analysis = play.stack.cycle.latest();
      if (analysis === null) throw new Error("a cycle was not completed");
      const truth = play.cluster.truth();
      works.look(truth, analysis, minute * step);
      health.look(truth, analysis, minute * step);
      onCycle?.(analysis);
    }
    return { seed, works: works.outcomes(), health: health.outcomes() };
  } finally {
    await play.stop();
  }
}
