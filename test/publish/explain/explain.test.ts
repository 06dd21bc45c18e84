import fc from "fast-check";
import { describe, expect, it } from "vitest";
import type { Analysis } from "../../../exporter/analysis/analysis.ts";
import { defaultConfig } from "../../../exporter/config/defaults.ts";
import type { GangView } from "../../../exporter/join/gangView.ts";
import type { Device, Holding, NodeView, PodView } from "../../../exporter/join/snapshot.ts";
import { type Explained, explain } from "../../../exporter/publish/explain/explain.ts";
import type { ExplainedKind } from "../../../exporter/publish/explain/kinds.ts";
import { type Explanation, explanationSchema } from "../../../exporter/publish/explain/schema.ts";
import { explanationText } from "../../../exporter/publish/terminal/explanation.ts";
import { workloadView } from "../../advice/guards/guardMoment.ts";
import { device, gang, holding, moment, nodeView, podView } from "../../analysis/momentBuilder.ts";
import { bareReading, now } from "../../join/clusterBuilder.ts";
import { anyCluster } from "../../join/clusterGenerator.ts";
import { analysed, joined } from "../../join/outcomes.ts";

function explained(analysis: Analysis, kind: ExplainedKind, name: string): Explained {
  const { problems } = analysis.snapshot;
  return explain(kind, name, { analysis, settings: defaultConfig, problems, accountedTime: null });
}

function explanationOf(analysis: Analysis, kind: ExplainedKind, name: string): Explanation {
  const result = explained(analysis, kind, name);
  if (!result.ok) throw new Error(result.error);
  return result.explanation;
}

const totalOf = ({ parts }: Explanation): number => parts.reduce((sum, part) => sum + part.gpus, 0);

function statesOf({ parts }: Explanation): ReadonlyMap<string, number> {
  const states = new Map<string, number>();
  for (const part of parts)
    for (const [state, amount] of Object.entries(part.states)) states.set(state, (states.get(state) ?? 0) + amount);
  return states;
}

describe("an explanation adds up to what it explains, in any cluster", () => {
  it("of every team, by state; of every node, to its physical GPUs; of every pod, to what it holds", () => {
    fc.assert(
      fc.property(anyCluster, (state) => {
        const analysis = analysed(joined(state).snapshot);
        for (const team of analysis.teams) {
          const explanation = explanationOf(analysis, "team", team.team);
          expect(totalOf(explanation)).toBeCloseTo(team.allocated, 9);
          const states = statesOf(explanation);
          for (const [state, amount] of Object.entries(team.states))
            expect(states.get(state) ?? 0).toBeCloseTo(amount, 9);
        }
        for (const node of analysis.snapshot.nodes) {
          const explanation = explanationOf(analysis, "node", node.name);
          expect(totalOf(explanation)).toBeCloseTo(node.physicalGpus ?? 0, 9);
          expect(explanationSchema.safeParse(explanation).error).toBeUndefined();
          const lines = explanationText(explanation).split("\n");
          for (const line of lines) expect(line.length, line).toBeLessThanOrEqual(100);
        }
        for (const [index, pod] of analysis.snapshot.pods.entries()) {
          const allocated = analysis.accountingEntries.list
            .filter((b) => b.pod === index)
            .reduce((sum, b) => sum + b.gpus, 0);
          expect(totalOf(explanationOf(analysis, "pod", `${pod.namespace}/${pod.name}`))).toBeCloseTo(allocated, 9);
        }
      }),
      { numRuns: 150, seed: 20_260_301 },
    );
  });
});

interface Case {
  readonly pod?: Partial<PodView>;
  readonly allocated?: Partial<Holding>;
  readonly on?: Partial<Device>;
  readonly node?: Partial<NodeView>;
}

/** The state and the reason of one GPU that one pod holds. */
function reasonOfAllocated({ pod, allocated, on, node }: Case): string {
  const devices = [device({ holders: [holding(allocated)], ...on })];
  const snapshot = moment({ nodes: [nodeView(node)], devices, pods: [podView(pod)] });
  const [part] = explanationOf(analysed(snapshot), "node", "n").parts;
  return `${Object.keys(part?.states ?? {}).join("+")}: ${part?.why}`;
}

function reasonOfUnallocated({ on, node }: Case): string {
  const snapshot = moment({ nodes: [nodeView(node)], devices: [device(on)], pods: [] });
  const [part] = explanationOf(analysed(snapshot), "node", "n").parts;
  return `${Object.keys(part?.states ?? {}).join("+")}: ${part?.why}`;
}

const hungReading = bareReading("GPU-0", { gpuUtil: 1, tensorActive: 0, dramActive: 0.001, powerWatts: 121 });

describe("why a held GPU is in its state", () => {
  const rows: readonly (readonly [name: string, given: Case, reason: string])[] = [
    ["busy", {}, "active+underutilized: 1.0 GPU x 50 % sm_active"],
    [
      "node lost",
      { node: { ready: false, notReadySince: now - 900 } },
      "unavailable: its node is not Ready for 15 min",
    ],
    ["GPU lost", { on: { unhealthy: true } }, "unavailable: the device is not healthy: the API offers fewer GPUs"],
    [
      "gang",
      { pod: { gang: gang(now - 600) }, allocated: { activity: 0, idleSince: now - 600 } },
      "gang_wait: its gang research/g has 1 of the 2 members it needs, for 10 min",
    ],
    ["start", { pod: { starting: true, boundAt: now - 60 } }, "starting: a container of the pod has never run"],
    [
      "no row",
      { allocated: { activity: null }, on: { reading: null } },
      "unobserved: no fresh telemetry row shows this device",
    ],
    [
      "no identity",
      { allocated: { activity: null }, on: { uuid: null } },
      "unobserved: nothing says which GPU this is",
    ],
    [
      "idle",
      { allocated: { activity: 0.02, idleSince: now - 5400 } },
      "idle: every signal at most 0.05 for 1 h 30 min (since 12:30:00 UTC); a batch workload is idle after 30 min",
    ],
    [
      "stalled",
      { allocated: { activity: 1 }, on: { stall: { since: now - 2000, unseenSince: null }, reading: hungReading } },
      "stalled: it looks busy and computes nothing for 33 min (since 12:30:00 UTC): GPU_UTIL 100 %, tensor pipe 0 %, DRAM 0.1 %, power 121 W; this counts as stalled after 15 min",
    ],
    [
      "not stalled for long enough",
      { allocated: { activity: 1 }, on: { stall: { since: now - 480, unseenSince: null }, reading: hungReading } },
      "active: 1.0 GPU x 100 % sm_active; it looks busy and computes nothing for 8 min, less than the 15 min after which it is stalled",
    ],
    [
      "idle, and allowed to be",
      { allocated: { activity: 0.02, idleSince: now - 5400 }, pod: { idleOptOut: true } },
      "active+underutilized: 1.0 GPU x 2 % sm_active; idle for 1 h 30 min, and opted out of being called idle",
    ],
    [
      "not idle for long enough",
      { allocated: { activity: 0.02, idleSince: now - 600 }, pod: { workloadClass: "serving" } },
      "active+underutilized: 1.0 GPU x 2 % sm_active; idle for 10 min, less than the 1 d after which a serving workload is",
    ],
  ];
  it.each(rows)("%s", (_name, given, reason) => {
    expect(reasonOfAllocated(given).replace(/since \d\d:\d\d:\d\d/, "since 12:30:00")).toContain(reason);
  });
});

describe("why the GPU of a gang's member is stalled", () => {
  const whole: GangView = { id: "research/g", min: 3, bound: 3, partialSince: null };
  const spins = { stall: { since: now - 2000, unseenSince: null }, reading: hungReading };
  const why = (third: Partial<Device>, of: GangView | null, activity: number | null): string => {
    const pods = [0, 1, 2].map((i) => podView({ name: `rank-${i}`, gang: of }));
    const devices = pods.map((_, pod) =>
      device({
        uuid: `GPU-${pod}`,
        ...(pod === 2 ? third : spins),
        holders: [holding({ pod, activity: pod === 2 ? activity : 1 })],
      }),
    );
    const nodes = [nodeView({ physicalGpus: 3, devices: [0, 1, 2] })];
    const workloads = [workloadView({ name: "g", pods: [0, 1, 2] })];
    const { parts } = explanationOf(analysed(moment({ nodes, devices, pods, workloads })), "node", "n");
    return parts.find(({ states }) => "stalled" in states)?.why ?? "nothing is stalled";
  };

  it("names the member that differs: it is silent, or it computes", () => {
    expect(why({ idleNow: true, activity: 0 }, whole, 0)).toContain(
      "; nothing runs on rank-2 on n, for which the others may wait: look there first",
    );
    expect(why({ activity: 0.9 }, whole, 0.9)).toContain("; work is computed on rank-2 on n, for which");
  });

  it("names nobody where all spin, what the third does is not known, or they are no gang", () => {
    expect(why(spins, whole, 1)).not.toMatch(/look there/);
    expect(why({ reading: null, activity: null, idleNow: null }, whole, null)).not.toMatch(/look there/);
    expect(why({ activity: 0.9 }, null, 0.9)).not.toMatch(/look there/);
  });
});

describe("why a GPU that nobody holds is in its state", () => {
  const young = { createdAt: now - 60 };
  const rows: readonly (readonly [name: string, given: Case, reason: string])[] = [
    ["free", { node: young }, "free: nobody holds it"],
    ["idle node", {}, "idle_node: nothing on its node holds a GPU"],
    ["cordoned", { node: { schedulable: false } }, "cordoned: its node is cordoned or under a maintenance taint"],
    ["node lost", { node: { ready: false, notReadySince: now - 60 } }, "unavailable: its node is not Ready for 1 min"],
    ["active", { on: { activeUnallocatedAt: now - 60 } }, "unattributed: it was active at"],
    ["reserved", { on: { orphanReservation: true } }, "unattributed: a reservation pod keeps the GPU"],
  ];
  it.each(rows)("%s", (_name, given, reason) => {
    expect(reasonOfUnallocated(given)).toContain(reason);
  });
});

describe("what was counted", () => {
  it("names the intervals that no hour has", () => {
    const gap = { from: now - 3600, to: now - 3000, seconds: 600, gap: "too-long" } as const;
    const accountedTime = { since: now - 7200, coveredSeconds: 6600, gaps: [gap] };
    const analysis = analysed(moment());
    const result = explain("node", "n", { analysis, settings: defaultConfig, problems: [], accountedTime });
    expect(result.ok && result.explanation.coverage?.gaps).toEqual([
      {
        from: new Date((now - 3600) * 1000).toISOString(),
        to: new Date((now - 3000) * 1000).toISOString(),
        reason: "too-long",
      },
    ]);
    const text = result.ok ? explanationText(result.explanation) : "";
    expect(text).toContain("counted: 1 h 50 min since");
    expect(text).toMatch(/not covered {2}.* too-long$/m);
  });
});

describe("what cannot be explained", () => {
  const analysis = analysed(moment({ nodes: [nodeView({ name: "h100-01" })] }));
  it("names what is near", () => {
    expect(explained(analysis, "node", "h100-1")).toEqual({
      ok: false,
      error: 'there is no node with GPUs "h100-1"',
      nextStep: 'Did you mean "h100-01"?',
    });
  });
  it("says where to look when nothing is near", () => {
    expect(explained(analysis, "pod", "zzzzzzzzz")).toMatchObject({
      ok: false,
      nextStep: expect.stringContaining("NAMESPACE/NAME"),
    });
  });
  it("lets no control character of a name reach the terminal", () => {
    const hostile = analysed(moment({ nodes: [nodeView({ name: "n\u001b[31m\n\u202ex" })], devices: [] }));
    const text = explanationText(explanationOf(hostile, "node", "n\u001b[31m\n\u202ex"));
    for (const control of ["\u001b", "\u202e"]) expect(text).not.toContain(control);
    expect(text.split("\n")[0]).toContain("node n");
  });
});
