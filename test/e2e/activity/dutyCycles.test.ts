import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { gunzipSync } from "node:zlib";
import { describe, expect, it } from "vitest";
import { stateLimits } from "../../../exporter/analysis/stateLimits.ts";
import { accountStates } from "../../../exporter/analysis/states.ts";
import { emptyMemory } from "../../../exporter/join/memory.ts";
import { powerRangeOf } from "../../../exporter/join/stall/gpuPower.ts";
import { stalledWatts } from "../../../exporter/join/stall/looksStalled.ts";
import type { ClusterState } from "../../../exporter/model/cluster.ts";
import type { ServingPage } from "../../../exporter/model/serving.ts";
import { gpuNode, gpuPod, page, reading } from "../../join/clusterBuilder.ts";
import { defaultSettings, joined, stateSettings } from "../../join/outcomes.ts";
import { traces } from "../openbTrace.ts";

const duty = join(traces, "genai-2026", "pod_gpu_duty_cycle.csv.gz");
const acme = join(traces, "acme", "gpu_cdf.csv.gz");
const hasDuty = existsSync(duty);
const hasAcme = existsSync(acme);
if (!hasDuty) process.stdout.write("skipped: no genai-2026 trace; set FAIRLEAD_TRACES to the folder that holds it\n");
if (!hasAcme) process.stdout.write("skipped: no acme trace; set FAIRLEAD_TRACES to the folder that holds it\n");

const linesOf = (file: string): readonly string[] =>
  gunzipSync(readFileSync(file)).toString("utf8").trim().split("\n").slice(1);

/** Seconds of one step: five samples of the trace. */
const step = 285;

/** Of one pod in one step: whether it worked, and how often until its end. */
interface Look {
  readonly works: boolean;
  /** The most of the step, percent. */
  readonly duty: number;
  readonly requests: number;
}

/** Looks by pod and step; absent where the trace has no sample. */
function readDuty(): ReadonlyMap<string, ReadonlyMap<number, Look>> {
  const pods = new Map<string, Map<number, Look>>();
  const samples = linesOf(duty).map((line) => {
    const [value = "", time = "", pod = ""] = line.split(",");
    return { value: Number(value), at: Number(time), pod };
  });
  const requests = new Map<string, number>();
  for (const { value, at, pod } of samples.sort((one, other) => one.at - other.at)) {
    const looks = pods.get(pod) ?? new Map<number, Look>();
    pods.set(pod, looks);
    const of = Math.ceil(at / step) * step;
    const before = looks.get(of);
    const count = (requests.get(pod) ?? 1) + (value > 0 ? 1 : 0);
    requests.set(pod, count);
    looks.set(of, {
      works: before?.works === true || value > 0,
      duty: Math.max(before?.duty ?? 0, value),
      requests: count,
    });
  }
  return pods;
}

/** One moment of the trace: every pod serves on a GPU of its own; with pages, each sample above 0 % was a request. */
function stateAt(
  pods: ReturnType<typeof readDuty>,
  at: number,
  begin: number,
  withPages: boolean,
): Partial<ClusterState> {
  const there = [...pods].flatMap(([name, looks]) => {
    const look = looks.get(at);
    return look === undefined ? [] : [{ name, look }];
  });
  const labels = { "fairlead.dev/workload-class": "serving" };
  const times = { createdAt: begin - 86_400, scheduledAt: begin - 86_400, labels };
  const objects = there.map(({ name }) => gpuPod(name, name, 1, times));
  return {
    nodes: there.map(({ name }) => gpuNode(name, 1)),
    pods: objects,
    telemetry: there.map(({ name, look }) =>
      page(name, [reading(`GPU-${name}`, look.duty / 100, name)], { receivedAt: at }),
    ),
    serving: withPages
      ? there.map(({ look }, i): ServingPage => {
          const counters = { finished: look.requests, promptTokens: null, generatedTokens: null, isAsleep: null };
          const gauges = { running: look.works ? 1 : 0, waiting: 0, isEmpty: !look.works };
          return { pod: objects[i]?.uid ?? "", receivedAt: at, servers: ["vllm"], ...counters, ...gauges };
        })
      : [],
  };
}

/** The steps at whose end each pod was called idle, when no requests came or nothing ran. */
function playDuty(pods: ReturnType<typeof readDuty>, withPages: boolean): ReadonlyMap<string, readonly number[]> {
  const times = [...new Set([...pods.values()].flatMap((looks) => [...looks.keys()]))].sort((a, b) => a - b);
  const [begin = 0] = times;
  const called = new Map<string, number[]>();
  let memory = emptyMemory;
  for (const at of times) {
    const moment = joined(stateAt(pods, at, begin, withPages), defaultSettings, memory, at);
    memory = moment.memory;
    for (const { state, pod } of accountStates(moment.snapshot, stateSettings).accountingEntries.list) {
      const name = pod === null ? undefined : moment.snapshot.pods[pod]?.name;
      if (state === "idle" && name !== undefined) called.set(name, [...(called.get(name) ?? []), at]);
    }
  }
  return called;
}

describe.runIf(hasDuty)("143 pods of a published trace, taken for servers", () => {
  const pods: ReturnType<typeof readDuty> = hasDuty ? readDuty() : new Map();
  /** When a pod last worked, by the end of a step. */
  const workedAt = (name: string, until: number): number =>
    [...(pods.get(name) ?? [])].reduce(
      (last, [at, { works }]) => (works && at <= until ? Math.max(last, at) : last),
      0,
    );

  it("are never dark while they come back within two hours, and those that do not are", () => {
    const called = playDuty(pods, true);
    for (const [name, times] of called)
      for (const at of times)
        expect(at - workedAt(name, at), `${name} at ${at}`).toBeGreaterThanOrEqual(
          stateLimits.noRequestsSeconds - step,
        );
    // The trace itself says for whom no request came for longer: they are found, and nobody else.
    const quiet = [...pods.keys()].filter((name) => {
      const times = [...(pods.get(name)?.keys() ?? [])].sort((one, other) => one - other);
      // A step without a sample: the pod may be another one after it.
      let first = times[0] ?? 0;
      return times.some((at, i) => {
        if (at - (times[i - 1] ?? at) > step) first = at;
        return at - Math.max(first, workedAt(name, at)) >= stateLimits.noRequestsSeconds + step;
      });
    });
    expect(quiet.length).toBeGreaterThan(pods.size / 2);
    expect(quiet.length).toBeLessThan(pods.size);
    expect([...called.keys()]).toEqual(expect.arrayContaining(quiet));
  }, 120_000);

  it("are never idle by their activity alone: all of them come back within a day", () => {
    expect(playDuty(pods, false).size).toBe(0);
  }, 120_000);
});

describe.runIf(hasAcme)("the samples of two published clusters of A100", () => {
  const values = hasAcme ? linesOf(acme).map((line) => line.split(",")) : [];
  /** Percent of the samples up to a value. */
  const upTo = (cluster: string, metric: string, most: number): number =>
    values.reduce(
      (part, [of, name, x, percent]) =>
        of === cluster && name === metric && Number(x) <= most ? Math.max(part, Number(percent)) : part,
      0,
    );

  it.each([
    ["seren", 27.9],
    ["kalos", 23.1],
  ])("show that power never may decide alone: at least so many of %s look busy at little power", (cluster, least) => {
    const range = powerRangeOf("A100-SXM4-80GB", {});
    const little = upTo(cluster, "gpu_power_w", range === null ? 0 : stalledWatts(range, null));
    const notBusy = upTo(cluster, "gpu_util", 89.99);
    // Whatever goes with what: so many more draw little power than are not busy.
    expect(little - notBusy).toBeCloseTo(least, 0);
  });
});
