import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { createAccounting } from "../../exporter/accounts/accounting.ts";
import { analyse, analysisSettings } from "../../exporter/analysis/analyse.ts";
import { createPlacementCache } from "../../exporter/analysis/placement/measurePlacement.ts";
import { createPriceCache } from "../../exporter/analysis/prices/priceNodes.ts";
import { createLevelsCache } from "../../exporter/analysis/topology/levels.ts";
import { configSchema } from "../../exporter/config/schema.ts";
import { join } from "../../exporter/join/join.ts";
import { createJoinCache } from "../../exporter/join/joinCache.ts";
import { afterClockJump, emptyMemory, type Memory } from "../../exporter/join/memory.ts";
import { withFindings } from "../../exporter/join/remember.ts";
import type { ClusterState } from "../../exporter/model/cluster.ts";
import { noAdvice } from "../../exporter/model/recommendation.ts";
import { buildFamilies } from "../../exporter/publish/families.ts";
import { now } from "../join/clusterBuilder.ts";
import { changed, changeNames } from "../join/clusterChanges.ts";
import { anyCluster } from "../join/clusterGenerator.ts";
import { expectEqual } from "../join/expectEqual.ts";
import { health } from "../publish/moment.ts";

const config = configSchema.parse({ cluster: "histories" });

/** One exporter without sources and outputs; `keeps`: whether it keeps from cycle to cycle what did not change. */
function createExporter(keeps: boolean) {
  const accounts = createAccounting({ intervalSeconds: 30, limits: config.limits, queues: config.queues });
  let memory: Memory = emptyMemory;
  const makeCaches = () => ({
    joinCache: createJoinCache(),
    placementCache: createPlacementCache(),
    priceCache: createPriceCache(),
    levelsCache: createLevelsCache(),
  });
  let caches = makeCaches();
  return (state: ClusterState, wall: number, monotonic: number, jumped: number) => {
    if (!keeps) caches = makeCaches();
    if (jumped !== 0) memory = afterClockJump(memory, jumped);
    const { joinCache, ...kept } = caches;
    const joined = join(state, memory, config, wall, joinCache);
    const { shortSince, blockedSince, idleNodeSince } = memory;
    const since = { shortSince, blockedSince, idleNodeSince };
    const history = accounts.usageHistory();
    const settings = { ...analysisSettings(config), ...since, ...kept, history, ended: accounts.endedShapes() };
    const analysis = analyse(joined.snapshot, settings);
    const step = accounts.account(analysis, { wall, monotonic });
    const found = { blockedSince: analysis.blocked.since, idleNodeSince: analysis.idleNodes.since };
    memory = withFindings(joined.memory, { ...found, shortSince: analysis.shortSince }, joinCache);
    const families = buildFamilies({
      analysis,
      health: health(),
      limits: { ...config.limits, cost: config.cost, topRecommendations: config.advice.topSeries },
      accounts: accounts.counters(),
      budgets: null,
      advice: noAdvice,
    });
    const { accountingEntries, teams, pools, signals, idleNodes } = analysis;
    return { said: { entries: accountingEntries.list, teams, pools, signals, idleNodes }, step, families };
  };
}

const anyStep = fc.record({
  change: fc.constantFrom(...changeNames),
  pick: fc.nat(20),
  seconds: fc.constantFrom(30, 30, 30, 45, 90, 3600),
  /** By how much the wall clock is set besides. */
  jump: fc.constantFrom(0, 0, 0, 0, -600, 900),
});

/** `FAIRLEAD_HISTORIES=4` looks at a thousand histories and not at 30. */
const numRuns = process.env.FAIRLEAD_HISTORIES === undefined ? 30 : 250 * Number(process.env.FAIRLEAD_HISTORIES);

describe("analysis, accounts and pages of an exporter that keeps what did not change", () => {
  it("are those of one that works out everything anew, bit for bit, whatever changes", () => {
    let accounted = 0;
    fc.assert(
      fc.property(anyCluster, fc.array(anyStep, { minLength: 3, maxLength: 8 }), (first, steps) => {
        const [kept, scratch] = [createExporter(true), createExporter(false)];
        let state = first;
        let [wall, monotonic, jumped] = [now, 1000, 0];
        for (const [round, { change, pick, seconds, jump }] of steps.entries()) {
          const answers = kept(state, wall, monotonic, jumped);
          expectEqual(answers, scratch(state, wall, monotonic, jumped));
          accounted += answers.step?.postings.length ?? 0;
          state = changed(state, change, pick, round);
          monotonic += seconds;
          wall += seconds + jump;
          jumped = jump;
        }
      }),
      { numRuns, seed: 11 },
    );
    expect(accounted).toBeGreaterThan(numRuns);
  });
});
