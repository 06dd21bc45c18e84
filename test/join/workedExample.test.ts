import { describe, expect, it } from "vitest";
import type { ClusterState } from "../../exporter/model/cluster.ts";
import {
  allocated,
  bareReading,
  claim,
  claimant,
  claimingPod,
  cluster,
  gfdLabels,
  gpuNode,
  gpuPod,
  instance,
  namespace,
  node,
  now,
  page,
  pod,
  reading,
  slice,
  sliceGpu,
} from "./clusterBuilder.ts";
import { analysed, defaultSettings, joined, nodeOf } from "./outcomes.ts";

/*
 * Seven nodes, every number by hand. Namespace `research` is team vision, namespace `voice` is team speech.
 *
 * whole   8 x H100: train holds 4, busy .9 .8 .7 .6; notebook holds 1, idle for 40 min; one GPU is busy .5 without a
 *         holder; two are quiet.
 *           active .9+.8+.7+.6 = 3, underutilized 4-3 = 1, idle 1, unattributed 1, free 2
 * sliced  2 x L4, 4 renamed replicas each: on the first, s1 holds 1/4 (vision) and s2 2/4 (speech) of a GPU that is busy .6.
 *           H = .75, each active with .6/.75 = .8: s1 .2 + .05 underutilized, s2 .4 + .1 underutilized, free .25 + 1
 * mig     1 x A100 as 3g (half its memory) + 2g + 1g: m1 (vision) on 1/2 busy .5, m2 (speech) on 2/7 busy 1, 1/7 unallocated, 1/14 unpartitioned.
 *           active 1.5/7 + 2/7 = .5, underutilized 1.5/7, free 2/7
 * kai     2 x H100, cordoned: f1 holds .5 and f2 .25 (speech) of a GPU that is busy .3; the other is quiet.
 *           H = .75, each active with .4: active .3, underutilized .45, cordoned .25 + 1
 * dra     4 x H100, not ready for 4 min: p1 (vision) and p2 (vision) share one claim of one GPU, busy .4.
 *           active .4, underutilized .6, and the three unallocated GPUs are unavailable at once
 * dark    4 x H100 without a page: q (speech) holds 2 unobserved; g-0 (speech) is bound for 10 min, g-1 waits:
 *         gang_wait 1; free 1
 * empty   2 x L4, quiet: idle_node 2
 */
const voice = { namespace: "voice" };
const inVoice = (name: string, slots = 1) => claimant(name, { ...voice, slots });

const gangMember = (name: string, nodeName: string | null) =>
  gpuPod(name, nodeName, 1, {
    ...voice,
    owner: { apiVersion: "kubeflow.org/v1", kind: "PyTorchJob", name: "g", uid: "uid-g" },
    scheduledAt: nodeName === null ? null : now - 600,
  });

const fraction = (name: string, part: string) =>
  pod(name, "kai", {
    ...voice,
    schedulerName: "kai-scheduler",
    labels: { "runai-gpu-group": "grp" },
    annotations: { "gpu-fraction": part },
  });

const h100 = { "nvidia.com/gpu.product": "NVIDIA-H100-80GB-HBM3" };
const state: ClusterState = cluster({
  nodes: [
    gpuNode("whole", 8),
    node("sliced", {
      capacity: { "nvidia.com/gpu.shared": 8 },
      labels: { ...gfdLabels(2, "NVIDIA-L4-SHARED"), "nvidia.com/gpu.replicas": "4" },
    }),
    node("mig", {
      capacity: { "nvidia.com/mig-3g.40gb": 1, "nvidia.com/mig-2g.20gb": 1, "nvidia.com/mig-1g.10gb": 1 },
      labels: { ...gfdLabels(1, "NVIDIA-A100-SXM4-80GB"), "nvidia.com/gpu.replicas": "0" },
    }),
    gpuNode("kai", 2, { unschedulable: true }),
    node("dra", { labels: h100, ready: false, readyChangedAt: now - 240 }),
    gpuNode("dark", 4),
    gpuNode("empty", 2, { labels: gfdLabels(2, "NVIDIA-L4") }),
  ],
  pods: [
    gpuPod("train", "whole", 4),
    gpuPod("notebook", "whole", 1),
    gpuPod("s1", "sliced", 1, {}, "nvidia.com/gpu.shared"),
    gpuPod("s2", "sliced", 2, voice, "nvidia.com/gpu.shared"),
    gpuPod("m1", "mig", 1, {}, "nvidia.com/mig-3g.40gb"),
    gpuPod("m2", "mig", 1, voice, "nvidia.com/mig-2g.20gb"),
    gpuPod("gpu-reservation-grp", "kai", 1, {
      namespace: "kai-resource-reservation",
      labels: { "runai-gpu-group": "grp" },
      annotations: { "run.ai/reserve_for_gpu_index": "GPU-k0" },
    }),
    fraction("f1", "0.5"),
    fraction("f2", "0.25"),
    claimingPod("p1", "dra", "shared"),
    claimingPod("p2", "dra", "shared"),
    gpuPod("q", "dark", 2, voice),
    gangMember("g-0", "dark"),
    gangMember("g-1", null),
  ],
  namespaces: [namespace("research", { team: "vision" }), namespace("voice", { team: "speech" })],
  resourceClaims: [claim("shared", [allocated("dra", "gpu-0")], ["p1", "p2"])],
  resourceSlices: [
    slice(
      "dra",
      [0, 1, 2, 3].map((i) => sliceGpu(`gpu-${i}`, `GPU-d${i}`)),
    ),
  ],
  telemetry: [
    page("whole", [
      ...[0.9, 0.8, 0.7, 0.6].map((busy, i) => reading(`GPU-w${i}`, busy, "train")),
      reading("GPU-w4", 0.02, "notebook"),
      reading("GPU-w5", 0.5),
      reading("GPU-w6", 0),
      reading("GPU-w7", 0),
    ]),
    page("sliced", [
      bareReading("GPU-s0", { smActive: 0.6, claimants: [claimant("s1"), inVoice("s2", 2)] }),
      bareReading("GPU-s1", { smActive: 0 }),
    ]),
    page("mig", [
      instance("GPU-m0", "1", "3g.40gb", 0.5, "m1"),
      instance("GPU-m0", "2", "2g.20gb", 1),
      instance("GPU-m0", "3", "1g.10gb", 0),
    ]),
    page("kai", [bareReading("GPU-k0", { smActive: 0.3 }), bareReading("GPU-k1", { smActive: 0 })]),
    page(
      "dra",
      [0.4, 0, 0, 0].map((busy, i) => bareReading(`GPU-d${i}`, { smActive: busy })),
    ),
    page("empty", [bareReading("GPU-e0", { smActive: 0 }), bareReading("GPU-e1", { smActive: 0 })]),
  ],
});

// The notebook has been seen idle 40 minutes ago.
const { memory } = joined(state, defaultSettings, undefined, now - 2400);
const { snapshot } = joined(state, defaultSettings, memory, now);
const { accountingEntries, teams, pools } = analysed(snapshot);

function close(states: Record<string, number>): Record<string, unknown> {
  return Object.fromEntries(Object.entries(states).map(([state, gpus]) => [state, expect.closeTo(gpus, 12)]));
}

function statesOn(name: string): Record<string, number> {
  const states: Record<string, number> = {};
  for (const accountingEntry of accountingEntries.list)
    if (accountingEntry.node === name)
      states[accountingEntry.state] = (states[accountingEntry.state] ?? 0) + accountingEntry.gpus;
  return states;
}

describe("the worked example", () => {
  const byNode: readonly (readonly [string, number, Record<string, number>])[] = [
    ["whole", 8, { active: 3, underutilized: 1, idle: 1, unattributed: 1, free: 2 }],
    ["sliced", 2, { active: 0.6, underutilized: 0.15, free: 1.25 }],
    ["mig", 1, { active: 0.25 + 2 / 7, underutilized: 0.25, free: 3 / 14 }],
    ["kai", 2, { active: 0.3, underutilized: 0.45, cordoned: 1.25 }],
    ["dra", 4, { active: 0.4, underutilized: 0.6, unavailable: 3 }],
    ["dark", 4, { unobserved: 2, gang_wait: 1, free: 1 }],
    ["empty", 2, { idle_node: 2 }],
  ];
  it.each(byNode)("node %s", (name, physicalGpus, states) => {
    expect(nodeOf(snapshot, name).physicalGpus).toBe(physicalGpus);
    expect(statesOn(name)).toEqual(close(states));
  });

  it("pools", () => {
    expect(pools.map(({ pool, physicalGpus }) => [pool, physicalGpus])).toEqual([
      ["A100-SXM4-80GB", 1],
      ["H100-80GB-HBM3", 18],
      ["L4", 4],
    ]);
    // whole + kai + dra + dark: 3 + .3 + .4, 1 + .45 + .6, ...
    const h100States = {
      active: 3.7,
      underutilized: 2.05,
      idle: 1,
      unattributed: 1,
      free: 3,
      cordoned: 1.25,
      unavailable: 3,
      unobserved: 2,
      gang_wait: 1,
    };
    expect(pools[1]?.states).toEqual(close(h100States));
    expect(pools[2]?.states).toEqual(close({ active: 0.6, underutilized: 0.15, free: 1.25, idle_node: 2 }));
    expect(pools.map((pool) => pool.imbalance)).toEqual([0, 0, 0]);
  });

  it("teams", () => {
    const [speech, vision] = teams;
    // train 3 + s1 .2 + m1 .25 + p1, p2 .4; of 4 + 1 + .25 + .5 + 1.
    expect(vision).toMatchObject({
      team: "vision",
      allocated: expect.closeTo(6.75, 12),
      active: expect.closeTo(3.85, 12),
      utilization: expect.closeTo(3.85 / 6.75, 12),
      states: close({ active: 3.85, underutilized: 1.9, idle: 1 }),
      pending: 0,
    });
    // s2 .4 + m2 2/7 + f1, f2 .3; of .5 + 2/7 + .75, beside 2 unobserved and 1 in gang_wait; one more waits.
    expect(speech).toMatchObject({
      team: "speech",
      allocated: expect.closeTo(4.25 + 2 / 7, 12),
      utilization: expect.closeTo((0.7 + 2 / 7) / (1.25 + 2 / 7), 12),
      states: close({ active: 0.7 + 2 / 7, underutilized: 0.55, unobserved: 2, gang_wait: 1 }),
      pending: 1,
    });
  });

  it("estimated are the split activities and the requests without a device", () => {
    // sliced .75, kai .75, dra 1, dark 3.
    expect(teams.reduce((sum, team) => sum + team.estimated, 0)).toBeCloseTo(5.5, 12);
  });

  it("no problem", () => {
    expect(snapshot.problems).toEqual([]);
  });
});
