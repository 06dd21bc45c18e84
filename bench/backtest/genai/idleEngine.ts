import { createAdviser } from "../../../exporter/advice/adviser.ts";
import { analyse, analysisSettings } from "../../../exporter/analysis/analyse.ts";
import { configSchema } from "../../../exporter/config/schema.ts";
import { join } from "../../../exporter/join/join.ts";
import { createJoinCache } from "../../../exporter/join/joinCache.ts";
import { emptyMemory, type Memory } from "../../../exporter/join/memory.ts";
import { withFindings } from "../../../exporter/join/remember.ts";
import type { ClusterState, OwnerObject } from "../../../exporter/model/cluster.ts";
import type { ClusterNode } from "../../../exporter/model/node.ts";
import type { Pod } from "../../../exporter/model/pod.ts";
import { adviceKinds } from "../../../exporter/model/recommendation.ts";
import { emptyState } from "../../emptyState.ts";
import { barePod, longAgo, readyNode } from "../objects.ts";
import { blankReading, claimantOf, pageOfNode } from "../readings.ts";
import { type DutyTrace, sampleSeconds } from "./dutyTrace.ts";

/** Something that was said about a pod at a moment of the trace. */
export interface Call {
  readonly pod: string;
  readonly at: number;
}

/** What the engine said: when pods became idle, and when advice about them was opened. */
export interface Calls {
  readonly idle: readonly Call[];
  readonly advised: readonly Call[];
}

/** Samples that one cycle looks at together; the most of them counts. */
const samplesPerCycle = 5;
const cycleSeconds = samplesPerCycle * sampleSeconds;

/**
 * Plays the trace through the engine that runs in production, a cycle every five samples: each pod serves on a GPU of its own,
 * and is called idle after `windowSeconds` without activity (`idle.batchSeconds`). With `isAdvised` the advice to release idle
 * work is asked for in each cycle, with its default settings.
 */
export function playIdle(trace: DutyTrace, windowSeconds: number, isAdvised: boolean): Calls {
  const config = configSchema.parse({
    cluster: "backtest",
    interval: cycleSeconds,
    idle: { batchSeconds: windowSeconds },
    prices: { table: false },
    advice: { disabledKinds: adviceKinds.filter((kind) => kind !== "release_idle") },
  });
  const settings = analysisSettings(config);
  const adviser = createAdviser(config.advice, config.interval);
  const cache = createJoinCache();
  const objects = new Map([...trace.keys()].map((name) => [name, objectsOf(name)] as const));
  const idle: Call[] = [];
  const advised: Call[] = [];
  const opened = new Set<string>();
  let memory: Memory = emptyMemory;
  let before = new Set<string>();
  for (const [at, used] of cyclesOf(trace)) {
    const joined = join(stateAt(objects, used, at), memory, config, at, cache);
    const { shortSince, blockedSince, idleNodeSince } = memory;
    const analysis = analyse(joined.snapshot, { ...settings, shortSince, blockedSince, idleNodeSince });
    const found = { shortSince: analysis.shortSince, blockedSince: analysis.blocked.since };
    memory = withFindings(joined.memory, { ...found, idleNodeSince: analysis.idleNodes.since }, cache);
    const now = new Set(
      analysis.accountingEntries
        .inState("idle")
        .flatMap(({ pod }) => (pod === null ? [] : [analysis.snapshot.pods[pod]?.name ?? ""])),
    );
    for (const pod of now) if (!before.has(pod)) idle.push({ pod, at });
    before = now;
    if (!isAdvised) continue;
    for (const { state, targets, questions, openedAt } of adviser.advise(analysis).recommendations) {
      const named = new Set(
        JSON.stringify([targets, questions.map(({ about }) => about)]).match(/[0-9a-f]{32}/g) ?? [],
      );
      for (const pod of named) {
        const key = `${pod} ${openedAt}`;
        if (state !== "open" || opened.has(key)) continue;
        opened.add(key);
        advised.push({ pod, at });
      }
    }
  }
  return { idle, advised };
}

/** The end of each cycle, with the most percent of each pod that has a sample in it. */
function cyclesOf(trace: DutyTrace): readonly (readonly [number, ReadonlyMap<string, number>])[] {
  const cycles = new Map<number, Map<string, number>>();
  for (const [pod, samples] of trace) {
    for (const { at, percent } of samples) {
      const end = Math.ceil(at / cycleSeconds) * cycleSeconds;
      const cycle = cycles.get(end) ?? new Map<string, number>();
      cycles.set(end, cycle);
      cycle.set(pod, Math.max(cycle.get(pod) ?? 0, percent));
    }
  }
  return [...cycles].sort(([a], [b]) => a - b);
}

interface PodObjects {
  readonly node: ClusterNode;
  readonly pod: Pod;
  readonly owner: OwnerObject;
}

const startedAt = 1_600_000_000;

function objectsOf(name: string): PodObjects {
  const owner: OwnerObject = {
    apiVersion: "apps/v1",
    kind: "ReplicaSet",
    namespace: "genai",
    name,
    uid: `uid-set-${name}`,
    labels: {},
    annotations: {},
    owner: null,
    createdAt: startedAt,
    job: null,
  };
  return {
    owner,
    node: readyNode(`node-${name}`, 1, "NVIDIA-A10", startedAt + longAgo),
    pod: {
      ...barePod(name, "genai", `node-${name}`, startedAt),
      labels: { "fairlead.dev/workload-class": "batch" },
      owner: { apiVersion: owner.apiVersion, kind: owner.kind, name, uid: owner.uid },
      gpu: { resources: { "nvidia.com/gpu": 1 }, claims: [], extendedResourceClaim: null },
    },
  };
}

function stateAt(
  objects: ReadonlyMap<string, PodObjects>,
  used: ReadonlyMap<string, number>,
  at: number,
): ClusterState {
  const there = [...used].flatMap(([name, percent]) => {
    const found = objects.get(name);
    return found === undefined ? [] : [{ ...found, name, percent }];
  });
  return {
    ...emptyState,
    nodes: there.map(({ node }) => node),
    pods: there.map(({ pod }) => pod),
    owners: there.map(({ owner }) => owner),
    namespaces: [{ name: "genai", labels: { team: "genai" }, annotations: {} }],
    telemetry: there.map(({ node, name, percent }) =>
      pageOfNode(
        node.name,
        [{ ...blankReading(`GPU-${name}`, percent / 100), claimants: [claimantOf("genai", name)] }],
        at,
      ),
    ),
  };
}
