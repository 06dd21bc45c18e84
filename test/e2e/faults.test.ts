import type { AddressInfo } from "node:net";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { compareWithTruth } from "../../cli/demo/compareWithTruth.ts";
import { type PlayedCluster, playCluster } from "../../cli/demo/playCluster.ts";
import type { GpuState } from "../../exporter/analysis/booking.ts";
import { configSchema } from "../../exporter/config/schema.ts";
import { unassigned } from "../../exporter/join/teamOf.ts";
import type { Fault } from "../../simulator/faults.ts";
import { demoScenario } from "../../simulator/scenarios/demo.ts";
import { expectClosedBooks, latest, startAt, sum } from "./books.ts";

const node = "h100-01";
const target = { node } as const;

/** What happens, and what names it: problem codes that must be there, and GPUs in a state on a node. */
interface Case {
  readonly name: string;
  readonly faults: readonly Fault[];
  readonly codes: readonly string[];
  readonly state?: { readonly node: string; readonly state: GpuState; readonly gpus: number };
  /** Steps of 30 s while it lasts; 150 s are more than a last good page lives. */
  readonly steps?: number;
  /** What is forbidden is tried again after a minute of real time: too long for this test. Must be the last case. */
  readonly triedAgainLater?: boolean;
}

const unobserved = { node, state: "unobserved", gpus: 8 } as const;
const relist = [{ kind: "api-gone" }, { kind: "api-watch-cut" }] as const satisfies readonly Fault[];

const cases: readonly Case[] = [
  {
    name: "slow page",
    faults: [{ kind: "exporter-slow", target, delayMs: 3000 }],
    codes: ["target-timeout"],
    state: unobserved,
  },
  { name: "error page", faults: [{ kind: "exporter-error", target }], codes: ["target-status"], state: unobserved },
  { name: "empty page", faults: [{ kind: "exporter-empty", target }], codes: ["target-empty-page"], state: unobserved },
  {
    name: "garbage",
    faults: [{ kind: "exporter-garbage", target }],
    codes: ["target-not-an-exporter-page"],
    state: unobserved,
  },
  {
    name: "page with GPUs of other nodes",
    faults: [{ kind: "exporter-hostile", target, content: "foreign-devices" }],
    codes: ["too-many-devices", "several-hosts", "uuid-on-two-nodes", "gpu-count-conflict"],
  },
  {
    name: "page that breaks formats",
    faults: [{ kind: "exporter-hostile", target, content: "label-injection" }],
    codes: ["malformed-lines"],
    state: { node, state: "unobserved", gpus: 7 },
  },
  {
    name: "page without end",
    faults: [{ kind: "exporter-hostile", target, content: "huge", megabytes: 6 }],
    codes: ["too-many-devices"],
    steps: 1,
  },
  // Values that stay as they were look like a steady load: nothing names this fault yet.
  { name: "frozen page", faults: [{ kind: "exporter-frozen", target }], codes: [] },
  {
    name: "exporter that breaks off",
    faults: [{ kind: "exporter-reset", target }],
    codes: ["target-reset"],
    state: unobserved,
  },
  { name: "stuck profiling", faults: [{ kind: "profiling-stuck", target: "all" }], codes: ["profiling-broken"] },
  {
    name: "lost node, for more than five minutes",
    faults: [{ kind: "node-lost", node }],
    codes: ["target-reset"],
    state: { node, state: "unavailable", gpus: 8 },
    steps: 12,
  },
  {
    name: "lost card",
    faults: [{ kind: "gpu-lost", node, card: 0 }],
    codes: ["gpu-count-conflict"],
    state: { node, state: "unavailable", gpus: 1 },
  },
  {
    name: "process of nobody",
    faults: [{ kind: "stray-process", node: "h100-08", card: 0, activity: 0.5 }],
    codes: [],
    state: { node: "h100-08", state: "unattributed", gpus: 1 },
  },
  // A watch that is cut, gone or slow is opened again at once: it must leave no trace in the numbers.
  { name: "cut watches", faults: [{ kind: "api-watch-cut" }], codes: [] },
  { name: "gone resource versions", faults: relist, codes: [] },
  { name: "expired continue tokens", faults: [{ kind: "api-continue-expired" }, ...relist], codes: [] },
  { name: "slow API", faults: [{ kind: "api-slow", delayMs: 100 }, ...relist], codes: [] },
  { name: "clock ahead", faults: [{ kind: "clock-jump", seconds: 7200 }], codes: [] },
  { name: "clock behind", faults: [{ kind: "clock-jump", seconds: -7200 }], codes: [] },
  { name: "failing lists", faults: [{ kind: "api-list-error", resource: "pods" }, ...relist], codes: ["kind-failing"] },
  {
    name: "forbidden slices",
    faults: [{ kind: "api-forbidden", resource: "resourceslices" }, ...relist],
    codes: ["forbidden"],
    triedAgainLater: true,
  },
];

const config = configSchema.parse({
  cluster: "harbor",
  teams: [{ from: "namespace-label", key: "team" }],
  dcgm: { timeoutSeconds: 1 },
  // Small pages, so that lists have continue tokens.
  kubernetes: { pageSize: 20 },
});

describe("the demo's cluster", () => {
  let cluster: PlayedCluster;
  beforeAll(async () => {
    cluster = await playCluster({ scenario: { ...demoScenario(), faults: [] }, seed: 7, startAt, config });
    await cluster.step(0);
    await cluster.step(30);
  });
  afterAll(() => cluster.stop());

  it.each(cases)(
    "closes its books with $name, names it, and finds the truth after it",
    async (each) => {
      expect(differences(cluster)).toEqual([]);
      const switchOff = each.faults.map((fault) => cluster.simulator.fault(fault));
      // A watch that is being opened anew gets no bookmark before the next step.
      const patience = each.faults.some(({ kind }) => kind.startsWith("api-")) ? 1200 : 20_000;
      for (let i = 0; i < (each.steps ?? 5); i++) {
        await cluster.step(30, patience);
        expectClosedBooks(latest(cluster));
        expect(sum(latest(cluster).pools.map((pool) => pool.physicalGpus))).toBeCloseTo(176, 6);
        expect(cluster.stack.cycle.health().cycles.failed).toBe(0);
      }
      const codes = cluster.stack.problems().map((problem) => problem.code);
      for (const code of each.codes) expect(codes).toContain(code);
      if (each.state !== undefined)
        expect(gpusIn(cluster, each.state.node, each.state.state)).toBeCloseTo(each.state.gpus, 6);
      expect(await metricsPage(cluster)).toMatch(/^fairlead_gpus\{/m);
      for (const off of switchOff) off();
      if (each.triedAgainLater === true) return;
      await recover(cluster);
      expect(differences(cluster)).toEqual([]);
      expect(cluster.stack.problems()).toEqual([]);
    },
    180_000,
  );

  it("has met every fault that there is", () => {
    const kinds: Readonly<Record<Fault["kind"], true>> = {
      "exporter-slow": true,
      "exporter-error": true,
      "exporter-empty": true,
      "exporter-garbage": true,
      "exporter-hostile": true,
      "exporter-frozen": true,
      "exporter-reset": true,
      "profiling-stuck": true,
      "node-lost": true,
      "gpu-lost": true,
      "stray-process": true,
      "api-watch-cut": true,
      "api-gone": true,
      "api-continue-expired": true,
      "api-forbidden": true,
      "api-slow": true,
      "api-list-error": true,
      "clock-jump": true,
    };
    const met = new Set<string>(cases.flatMap(({ faults }) => faults.map((fault) => fault.kind)));
    expect([...met].sort()).toEqual(Object.keys(kinds).sort());
  });
});

function gpusIn(cluster: PlayedCluster, name: string, state: GpuState): number {
  const bookings = latest(cluster).bookings.filter((b) => b.node === name && b.state === state);
  return sum(bookings.map((b) => b.gpus));
}

function differences(cluster: PlayedCluster): readonly unknown[] {
  return compareWithTruth(latest(cluster), cluster.simulator.truth(), unassigned).differences;
}

/** Failing targets and kinds are asked again after a while: steps until nothing is wrong, for at most 100 s on a slow machine. */
async function recover(cluster: PlayedCluster): Promise<void> {
  const deadline = Date.now() + 100_000;
  do {
    await cluster.step(30, 500);
  } while ((cluster.stack.problems().length > 0 || differences(cluster).length > 0) && Date.now() < deadline);
}

/** The page as Prometheus gets it. */
async function metricsPage(cluster: PlayedCluster): Promise<string> {
  const server = cluster.stack.app.listen(0, "127.0.0.1");
  await new Promise((resolve) => server.once("listening", resolve));
  const address: AddressInfo | string | null = server.address();
  const port = address !== null && typeof address === "object" ? address.port : 0;
  const page = await fetch(`http://127.0.0.1:${port}/metrics`).then((response) => response.text());
  await new Promise((resolve) => server.close(resolve));
  return page;
}
