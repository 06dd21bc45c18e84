import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { gunzipSync } from "node:zlib";
import { describe, expect, it } from "vitest";
import { createAdviser } from "../../exporter/advice/adviser.ts";
import { emptyMemory } from "../../exporter/join/memory.ts";
import type { AdviceTrackRecord } from "../../exporter/model/aftermath.ts";
import type { ClusterState } from "../../exporter/model/cluster.ts";
import { adviceSettings, deployment, pageAt, physicalGpu, podOf, replicaSet } from "../advice/usage/watchedCluster.ts";
import { gpuNode } from "../join/clusterBuilder.ts";
import { analysed, defaultSettings, joined } from "../join/outcomes.ts";
import { traces } from "./openbTrace.ts";

const file = join(traces, "genai-2026", "pod_gpu_duty_cycle.csv.gz");
const hasTrace = existsSync(file);
if (!hasTrace) process.stdout.write("skipped: no genai-2026 trace; set FAIRLEAD_TRACES to the folder that holds it\n");

/** Fewer steps would miss what half an hour is; more take longer, and show the same. */
const step = 600;
const threshold = 5;

/** Duty cycle in percent by pod and by step: the most of any sample in it; absent where there is none. */
function readTrace(): ReadonlyMap<string, ReadonlyMap<number, number>> {
  const pods = new Map<string, Map<number, number>>();
  for (const line of gunzipSync(readFileSync(file)).toString("utf8").trim().split("\n").slice(1)) {
    const [value = "", time = "", pod = ""] = line.split(",");
    const at = Math.ceil(Number(time) / step) * step;
    const samples = pods.get(pod) ?? new Map<number, number>();
    samples.set(at, Math.max(samples.get(at) ?? 0, Number(value)));
    pods.set(pod, samples);
  }
  return pods;
}

/** Pods that a rule flags which asks for nothing but half an hour of idle samples. */
function flaggedByRule(trace: ReturnType<typeof readTrace>): ReadonlySet<string> {
  const flagged = new Set<string>();
  for (const [pod, samples] of trace) {
    let since: number | null = null;
    for (const [at, value] of [...samples].sort(([a], [b]) => a - b)) {
      since = value > threshold ? null : (since ?? at);
      if (since !== null && at - since >= 1800) flagged.add(pod);
    }
  }
  return flagged;
}

/** Plays the trace: every pod a Deployment on a GPU of its own that has been there since the day before. */
function play(trace: ReturnType<typeof readTrace>) {
  const times = [...new Set([...trace.values()].flatMap((samples) => [...samples.keys()]))].sort((a, b) => a - b);
  const [begin = 0] = times;
  const owners = [...trace.keys()].map((pod) => deployment(`d-${pod}`, { createdAt: begin - 86_400 }));
  const objects = owners.flatMap((one) => [one, replicaSet(one)]);
  const adviser = createAdviser({ ...adviceSettings, standingCycles: 1 }, step);
  const named = { do: new Set<string>(), ask: new Set<string>(), watch: new Set<string>() };
  let memory = emptyMemory;
  let trackRecords: readonly AdviceTrackRecord[] = [];
  /** By target and time: work that came back by the word of the adviser. */
  const cameBack = new Map<string, { readonly target: string; readonly at: number }>();
  for (const at of times) {
    const there = owners.filter((_, i) => [...trace.values()][i]?.has(at) === true);
    const state: Partial<ClusterState> = {
      nodes: there.map(({ name }) => gpuNode(name, 1)),
      owners: objects,
      pods: there.map((one) =>
        podOf(one, `${one.name}-0`, one.name, 1, { createdAt: begin - 86_400, scheduledAt: begin - 86_400 }),
      ),
      telemetry: there.map(({ name }) =>
        pageAt(name, [physicalGpu(`GPU-${name}`, (trace.get(name.slice(2))?.get(at) ?? 0) / 100, `${name}-0`)], at),
      ),
    };
    const moment = joined(state, defaultSettings, memory, at);
    memory = moment.memory;
    const advice = adviser.advise(analysed(moment.snapshot));
    for (const { kind, state: lifecycle, act, targets, aftermath } of advice.recommendations) {
      if (kind !== "release_idle") continue;
      for (const target of targets) {
        if (lifecycle === "open") named[act].add(target);
        if (aftermath?.outcome === "came-back") cameBack.set(`${target} ${aftermath.at}`, { target, at: aftermath.at });
      }
    }
    trackRecords = advice.trackRecords ?? [];
  }
  return { named, trackRecords, cameBack: [...cameBack.values()] };
}

describe.runIf(hasTrace)("143 pods of a published trace", () => {
  it("are flagged by a rule of thirty minutes, and hardly any is to be stopped", () => {
    const trace = readTrace();
    const flagged = flaggedByRule(trace);
    const { named, trackRecords, cameBack } = play(trace);
    expect(flagged.size).toBeGreaterThan(100);
    expect(named.do.size).toBe(0);
    expect(named.ask.size).toBeGreaterThan(20);
    for (const target of named.ask) expect(flagged).toContain(target.slice("Deployment research/d-".length));
    // Who was asked about has worked for a day or more: most come back, and stopping them would have cost all of that.
    const [asked] = trackRecords;
    expect(trackRecords).toMatchObject([{ kind: "release_idle", act: "ask" }]);
    expect(asked?.outcomes["came-back"]).toBe(cameBack.length);
    expect(cameBack.length).toBeGreaterThan(20);
    expect(asked?.regretGpuHours).toBeGreaterThan(24 * cameBack.length);
    for (const { target, at } of cameBack)
      expect(trace.get(target.slice("Deployment research/d-".length))?.get(at), target).toBeGreaterThan(threshold);
  });
});
