import { describe, expect, it } from "vitest";
import { analyse } from "../../exporter/analysis/analyse.ts";
import { emptyMemory, type Memory } from "../../exporter/join/memory.ts";
import type { ClusterState } from "../../exporter/model/cluster.ts";
import type { AdviceKind } from "../../exporter/model/recommendation.ts";
import { createDcgmSource, type DcgmSource } from "../../exporter/sources/dcgm/dcgmSource.ts";
import { createPrometheusSource } from "../../exporter/sources/dcgm/prometheusSource.ts";
import type { GetPool } from "../../exporter/sources/http/getPool.ts";
import { gpuNode, now } from "../join/clusterBuilder.ts";
import { defaultSettings, joined, stateSettings } from "../join/outcomes.ts";
import { labelsOf, pageOf } from "../sources/dcgm/pages.ts";
import { deployment, hour, momentOf, podOf, replicaSet } from "./usage/watchedCluster.ts";
import { adviceOf } from "./wholeAdvice.ts";

const power = "DCGM_FI_DEV_POWER_USAGE";
const temperature = "DCGM_FI_DEV_GPU_TEMP";
const energy = "DCGM_FI_DEV_TOTAL_ENERGY_CONSUMPTION";
const util = "DCGM_FI_DEV_GPU_UTIL";

/** What the exporter of two idle GPUs says about one of them after so many collections. */
type PhysicalGpu = (gpu: number, turn: number) => Readonly<Record<string, number>>;
const gpus = [0, 1];
const labels = { namespace: "research", pod: "train-0", Hostname: "n1" };
const rowsAt = (physicalGpu: PhysicalGpu, turn: number): readonly (readonly [string, number, number])[] =>
  gpus.flatMap((gpu) => Object.entries(physicalGpu(gpu, turn)).map(([metric, value]) => [metric, gpu, value] as const));

/** A pool that answers every request with these bytes. */
const poolOf = (answer: () => Buffer): GetPool => ({
  get: async (_request, read) => ({ ok: true, value: read(answer()) }),
  retain: () => {},
  close: async () => {},
});

interface Feed {
  turn: number;
  at: number;
}

const exporterPod = { namespace: "gpu-operator", name: "dcgm-x", uid: "uid-x", nodeName: "n1", ip: "10.0.0.1" };

function scraped(physicalGpu: PhysicalGpu, feed: Feed): DcgmSource {
  const page = () =>
    pageOf(...rowsAt(physicalGpu, feed.turn).map(([name, gpu, value]) => `${name}{${labelsOf(gpu, labels)}} ${value}`));
  return createDcgmSource({
    targets: () => [
      {
        url: "http://10.0.0.1:9400/metrics",
        node: "n1",
        auth: { kind: "none" },
        caFile: null,
        insecureSkipVerify: false,
      },
    ],
    pool: poolOf(page),
    intervalSeconds: 30,
    now: () => feed.at,
  });
}

/** The same through a server that scrapes it every time: its samples are always young. */
function asked(physicalGpu: PhysicalGpu, feed: Feed): DcgmSource {
  const answer = () => {
    const result = rowsAt(physicalGpu, feed.turn).flatMap(([name, gpu, value]) => {
      const metric = { UUID: `GPU-${gpu}`, gpu: `${gpu}`, modelName: "NVIDIA H100 80GB HBM3", ...labels };
      return [
        { metric: { __name__: name, ...metric }, value: [feed.at, `${value}`] },
        { metric: { fairlead: "sample_time", ...metric }, value: [feed.at, `${feed.at - 5}`] },
      ];
    });
    return Buffer.from(JSON.stringify({ status: "success", data: { resultType: "vector", result } }));
  };
  return createPrometheusSource({
    server: {
      url: "http://prometheus:9090",
      auth: { kind: "none" },
      caFile: null,
      insecureSkipVerify: false,
      headers: {},
      timeoutSeconds: 10,
      matchers: {},
      nodeLabel: null,
    },
    pool: poolOf(answer),
    intervalSeconds: 30,
    exporters: () => ({ pods: [], rejected: [] }),
    knownNodes: () => new Set(["n1"]),
    now: () => feed.at,
  });
}

const train = deployment("train");

/** Two hours, a cycle a minute: the states of the pod at the end, all kinds that were ever advised, and what the source says. */
async function twoHours(make: (physicalGpu: PhysicalGpu, feed: Feed) => DcgmSource, physicalGpu: PhysicalGpu) {
  const feed: Feed = { turn: 0, at: now - 2 * hour };
  const source = make(physicalGpu, feed);
  const kinds = new Set<AdviceKind>();
  const states = new Set<string>();
  let memory: Memory = emptyMemory;
  let last = momentOf(analyse(joined({}).snapshot, stateSettings));
  for (; feed.at <= now; feed.at += 60, feed.turn += 1) {
    await source.scrapeOnce(feed.at);
    const state: Partial<ClusterState> = {
      nodes: [gpuNode("n1", 2)],
      owners: [train, replicaSet(train)],
      pods: [podOf(train, "train-0", "n1", 2, { createdAt: now - 4 * hour, scheduledAt: now - 4 * hour })],
      telemetry: source.read().pages,
      exporterPods: [exporterPod],
      problems: source.problems(),
    };
    const result = joined(state, defaultSettings, memory, feed.at);
    memory = result.memory;
    last = momentOf(analyse(result.snapshot, stateSettings));
    for (const { state: accounted, pod } of last.analysis.accountingEntries.list)
      if (pod !== null) states.add(accounted);
    if (feed.turn % 5 === 0) for (const { kind } of adviceOf(last).recommendations) kinds.add(kind);
  }
  for (const { kind } of adviceOf(last).recommendations) kinds.add(kind);
  const now_ = [
    ...new Set(last.analysis.accountingEntries.list.flatMap(({ state, pod }) => (pod === null ? [] : [state]))),
  ];
  const problems = source.problems().map(({ code }) => code);
  return { kinds: [...kinds].sort(), states, now: now_, problems, advice: adviceOf(last).recommendations };
}

const frozenWithCounter: PhysicalGpu = () => ({ [util]: 0, [power]: 68.442, [energy]: 5_000_000 });
const frozenWithout: PhysicalGpu = (gpu) => ({ [util]: 0, [power]: 68.442 + gpu, [temperature]: 31 });
const frozenDegrees: PhysicalGpu = () => ({ [util]: 0, [temperature]: 31 });
/** Idle GPUs: milliwatts that jitter, or an energy that counts on while all else stays the same. */
const idleJitter: PhysicalGpu = (gpu, turn) => ({
  [util]: 0,
  [power]: 68.442 + ((turn * 7 + gpu) % 5) / 1000,
  [temperature]: 31,
});
const idleCounting: PhysicalGpu = (_gpu, turn) => ({ [util]: 0, [power]: 68, [energy]: 5_000_000 + turn * 4_080_000 });

/** GPUs in a wait loop: alive, or frozen while they were, without an energy counter. */
const hung = (watts: (gpu: number, turn: number) => number) => (gpu: number, turn: number) => ({
  [util]: 100,
  DCGM_FI_PROF_GR_ENGINE_ACTIVE: 1,
  DCGM_FI_PROF_PIPE_TENSOR_ACTIVE: 0,
  DCGM_FI_PROF_DRAM_ACTIVE: 0.001,
  [power]: watts(gpu, turn),
});
const hungJitter: PhysicalGpu = hung((gpu, turn) => 121.5 + ((turn * 7 + gpu) % 5) / 1000);
const frozenHung: PhysicalGpu = hung((gpu) => 121.5 + gpu);
/** Whole watts on the only GPU that differs from nothing: no rule can say that such a page is frozen. */
const frozenWhole: PhysicalGpu = (gpu, turn) => (gpu === 0 ? hung(() => 121)(gpu, turn) : {});

describe.each([
  ["scraped directly", scraped],
  ["asked of a Prometheus server", asked],
] as const)("an exporter that is %s", (_way, make) => {
  it.each([
    ["with an energy counter", frozenWithCounter, "exporter-frozen", "high"],
    ["with powers alone", frozenWithout, "exporter-doubtful", "low"],
    ["with temperatures of several GPUs alone", frozenDegrees, "exporter-doubtful", "low"],
  ] as const)(
    "and is frozen at zeros %s, makes no GPU idle: it is to be restarted",
    async (_what, physicalGpu, code, level) => {
      const { kinds, states, now: states_, problems, advice } = await twoHours(make, physicalGpu);
      expect(problems).toContain(code);
      expect([...states]).not.toContain("idle");
      expect(states_).toEqual(["unobserved"]);
      expect(kinds).toEqual(["fix_source"]);
      expect(advice[0]?.confidence.level).toBe(level);
      expect(advice[0]?.evidence).toContainEqual({ name: "fault", value: code });
    },
  );

  it("and is alive on GPUs that hang, makes them stalled, and their owner is asked", async () => {
    const { kinds, now: states_, problems, advice } = await twoHours(make, hungJitter);
    expect(problems).toEqual([]);
    expect(states_).toEqual(["stalled"]);
    expect(kinds).toEqual(["release_idle"]);
    expect(advice[0]).toMatchObject({ act: "ask", steps: [] });
  });

  it.each([
    ["in fractions of a watt", frozenHung],
    ["in whole watts of one GPU", frozenWhole],
  ] as const)("and froze while GPUs hung, %s, makes none of them stalled", async (_what, physicalGpu) => {
    const { states, kinds } = await twoHours(make, physicalGpu);
    expect([...states]).not.toContain("stalled");
    expect(kinds).not.toContain("release_idle");
  });

  it.each([
    ["milliwatts jitter", idleJitter],
    ["energy counts", idleCounting],
  ] as const)("and is alive on idle GPUs, for their %s, makes them idle", async (_what, physicalGpu) => {
    const { kinds, now: states_, problems } = await twoHours(make, physicalGpu);
    expect(problems).toEqual([]);
    expect(states_).toEqual(["idle"]);
    expect(kinds).toContain("release_idle");
    expect(kinds).not.toContain("fix_source");
  });
});
