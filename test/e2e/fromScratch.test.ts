import { describe, expect, it } from "vitest";
import { playInMemory } from "../../cli/demo/playInMemory.ts";
import type { Analysis } from "../../exporter/analysis/analysis.ts";
import { selfMetrics } from "../../exporter/catalogue/self.ts";
import { configSchema } from "../../exporter/config/schema.ts";
import type { Family } from "../../exporter/publish/family.ts";
import type { Fault } from "../../simulator/faults.ts";
import { demoScenario } from "../../simulator/scenarios/demo.ts";
import { expectEqual } from "../join/expectEqual.ts";
import { createScratchTwin } from "./scratchTwin.ts";

const startAt = Date.parse("2026-11-16T12:00:00Z") / 1000;
/** `FAIRLEAD_HISTORIES` of any value plays a whole day, which takes minutes, and not one hour. */
const hours = process.env.FAIRLEAD_HISTORIES === undefined ? 1 : 24;
/** Milliseconds; on a busy machine a day takes more than the five minutes that a test of processes has. */
const timeout = Math.max(5, hours) * 60_000;
const interval = 30;
const cyclesPerFault = 450 / interval;

/** One after the other. */
const faults: readonly Fault[] = [
  { kind: "exporter-empty", target: { node: "h100-01" } },
  { kind: "node-lost", node: "a100-02" },
  { kind: "gpu-lost", node: "h100-03", physicalGpu: 2 },
  { kind: "exporter-frozen", target: { node: "a100-01" } },
  { kind: "gpu-xid", node: "a100-03", physicalGpu: 1, code: 79 },
  { kind: "exporter-reset", target: "all" },
  { kind: "profiling-stuck", target: { node: "h100-04" } },
  { kind: "stray-process", node: "a100-04", physicalGpu: 0, activity: 0.5 },
];

const own = new Set<string>(Object.keys(selfMetrics));
const ofCluster = (families: readonly Family[]): readonly Family[] => families.filter(({ name }) => !own.has(name));

/** What an analysis says at once: free capacity of gangs is found when it is asked for, and what is found is published. */
const saidAtOnce = ({ gangFreeCapacities, ...said }: Analysis): object => said;

describe("hours of the demo", { timeout }, () => {
  it("are the same for an exporter that keeps what did not change and for one that works out everything anew", async () => {
    const config = configSchema.parse({ cluster: "demo", interval, teams: [{ from: "namespace-label", key: "team" }] });
    const play = await playInMemory({ scenario: demoScenario(), seed: 1, startAt, config });
    const answers = createScratchTwin(play, config);
    let switchOff = (): void => {};
    try {
      for (let cycle = 0; cycle < (hours * 3600) / interval; cycle += 1) {
        if (cycle % cyclesPerFault === 0) {
          switchOff();
          const fault = faults[(cycle / cyclesPerFault) % faults.length];
          if (fault !== undefined) switchOff = play.cluster.fault(fault);
        }
        await play.step(cycle === 0 ? 0 : interval);
        const kept = play.stack.latest();
        const scratch = answers();
        if (kept === null) throw new Error("the first cycle published nothing");
        expect(kept.at).toBe(scratch.analysis.snapshot.at);
        expect(kept.families.length).toBe(scratch.families.length);
        expectEqual(ofCluster(kept.families), ofCluster(scratch.families));
        expectEqual(saidAtOnce(kept.analysis), saidAtOnce(scratch.analysis));
      }
      expect(play.stack.health().cycles.failed).toBe(0);
    } finally {
      await play.stop();
    }
  });
});
