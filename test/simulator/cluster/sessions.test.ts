import { describe, expect, it } from "vitest";
import { askOwner } from "../../../cli/demo/askOwner.ts";
import { trueWaste } from "../../../cli/demo/trueWaste.ts";
import type { Scenario, WorkloadSpec } from "../../../simulator/scenario.ts";
import { adviceScenario, lasting, wholeNodes } from "../../../simulator/scenarios/advice/parts.ts";
import { workloadOf } from "../../../simulator/scenarios/parts.ts";
import { createSimulatedCluster, type SimulatedCluster } from "../../../simulator/simulatedCluster.ts";

const startAt = 1_795_000_000;
const minute = 60;
const hour = 3600;

function inSessions(kind: WorkloadSpec["kind"], usedSeconds: readonly [number, number] | null): WorkloadSpec {
  const activity = { kind: "sessions", level: 0.6, usedSeconds } as const;
  return workloadOf(kind, "notebooks", 1, { kind: "physicalGpus", count: 1 }, activity);
}

function scenario(workload: WorkloadSpec, count: number, nodes: number): Scenario {
  return adviceScenario("sessions", {
    nodes: wholeNodes("a100", nodes, "A100"),
    namespaces: [{ name: "notebooks", team: "notebooks" }],
    habits: [lasting("lab", workload, count)],
    warmupSeconds: 0,
  });
}

function clusterOf(workload: WorkloadSpec, count = 1, nodes = 1): SimulatedCluster {
  return createSimulatedCluster({ scenario: scenario(workload, count, nodes), seed: 3, startAt });
}

const patch = (path: string, body: object) =>
  ({ method: "PATCH", path, contentType: "application/merge-patch+json", body: JSON.stringify(body) }) as const;

/** Lets time pass until the first work pauses, and says what it is called. */
function untilPause(cluster: SimulatedCluster): string {
  for (let i = 0; i < 1000; i++) {
    cluster.advance(30);
    const [work] = cluster.truth().works;
    if (work !== undefined && work.startedAt !== null && work.worksAgainAt !== cluster.now()) return work.name;
  }
  throw new Error("it never pauses");
}

function untilWanted(cluster: SimulatedCluster): void {
  for (let i = 0; i < 2000 && cluster.truth().foundStopped.length === 0; i++) cluster.advance(30);
}

describe("work in spells and pauses", () => {
  it("pauses and comes back as pods of a real cluster do", () => {
    const cluster = clusterOf(inSessions("Notebook", null), 80, 10);
    const pauses: number[] = [];
    const quietSince = new Map<string, number>();
    for (let i = 0; i < 22.8 * 60; i++) {
      cluster.advance(minute);
      for (const { name, worksAgainAt } of cluster.truth().works) {
        const since = quietSince.get(name);
        if (worksAgainAt !== cluster.now()) quietSince.set(name, since ?? cluster.now());
        else if (since !== undefined) {
          pauses.push((cluster.now() - since) / minute);
          quietSince.delete(name);
        }
      }
    }
    const longerThan = (length: number): number => pauses.filter((one) => one >= length).length / pauses.length;
    // The trace: 2,024 and 603 of 3,683 pauses of at least five minutes; 143 of the 603 lasted an hour.
    expect(Math.abs(longerThan(10) - 2024 / 3683)).toBeLessThan(0.04);
    expect(Math.abs(longerThan(30) - 603 / 3683)).toBeLessThan(0.04);
    expect(Math.abs(longerThan(60) / longerThan(30) - 143 / 603)).toBeLessThan(0.1);
    expect(pauses.length).toBeGreaterThan(1000);
    const afterHalfAnHour = pauses.filter((one) => one >= 30).toSorted((a, b) => a - b);
    const median = afterHalfAnHour[Math.floor(afterHalfAnHour.length / 2)] ?? 0;
    // The trace: 10.9 minutes later.
    expect(median - 30).toBeGreaterThan(5);
    expect(median - 30).toBeLessThan(18);
  });

  it("is found stopped by its owner, who starts it again and waits until it runs", () => {
    const cluster = clusterOf(inSessions("Notebook", null));
    const name = untilPause(cluster);
    const path = `/apis/kubeflow.org/v1/namespaces/notebooks/notebooks/${name}`;
    const stop = patch(path, { metadata: { annotations: { "kubeflow-resource-stopped": "2026-11-16T12:00:00Z" } } });
    expect(cluster.api.write(stop).code).toBe(200);
    cluster.advance(30);
    expect(cluster.truth().physicalGpus.flatMap(({ holders }) => holders)).toEqual([]);
    untilWanted(cluster);
    const { foundStopped, works } = cluster.truth();
    expect(foundStopped).toEqual([{ namespace: "notebooks", name, at: cluster.now() }]);
    expect(works.map(({ worksAgainAt }) => worksAgainAt)).toEqual([cluster.now()]);
    cluster.advance(90);
    const after = cluster.truth();
    expect(after.physicalGpus.flatMap(({ holders }) => holders)).toHaveLength(1);
    expect(after.ownerWaitSeconds).toBeGreaterThan(0);
    expect(after.ownerWaitSeconds).toBeLessThanOrEqual(120);
    // Its object is as the owner had it: nothing says any more that it is stopped.
    const reply = cluster.api.read({ path, accept: "application/json" }, neverWatched);
    expect(String(reply?.body)).not.toContain("kubeflow-resource-stopped");
  });

  it("that nobody stops is never found stopped", () => {
    const cluster = clusterOf(inSessions("Notebook", null));
    cluster.advance(24 * hour);
    expect(cluster.truth()).toMatchObject({ foundStopped: [], ownerWaitSeconds: 0, lostGpuSeconds: 0 });
  });

  it("is done again if it is a job that is stopped in a pause", () => {
    const cluster = clusterOf(inSessions("PyTorchJob", null));
    const name = untilPause(cluster);
    const path = `/apis/kubeflow.org/v1/namespaces/notebooks/pytorchjobs/${name}`;
    expect(cluster.api.write(patch(path, { spec: { runPolicy: { suspend: true } } })).code).toBe(200);
    const lost = cluster.truth().lostGpuSeconds;
    expect(lost).toBeGreaterThan(0);
    untilWanted(cluster);
    cluster.advance(60);
    expect(cluster.truth().physicalGpus.flatMap(({ holders }) => holders)).toHaveLength(1);
    expect(cluster.truth().lostGpuSeconds).toBe(lost);
  });

  it("is let go by its owner only when he will never use it again", () => {
    const cluster = clusterOf(inSessions("Notebook", [1, 1]));
    const name = untilPause(cluster);
    expect(cluster.truth().works.map(({ worksAgainAt }) => worksAgainAt)).toEqual([null]);
    expect(askOwner(cluster, `Notebook notebooks/${name}`)).toBe(true);
    expect(askOwner(cluster, `Notebook notebooks/${name}`)).toBe(false);
    cluster.advance(24 * hour);
    expect(cluster.truth()).toMatchObject({ works: [], foundStopped: [] });
    const used = clusterOf(inSessions("Notebook", null));
    expect(askOwner(used, `Notebook notebooks/${untilPause(used)}`)).toBe(false);
    expect(used.truth().works).toHaveLength(1);
  });
});

describe("what a cluster wastes", () => {
  it("is the same after GPUs were freed that nobody uses then", () => {
    const never = workloadOf(
      "Notebook",
      "notebooks",
      1,
      { kind: "physicalGpus", count: 1 },
      { kind: "constant", level: 0 },
    );
    const cluster = clusterOf(never, 4);
    cluster.advance(hour);
    const before = trueWaste(scenario(never, 4, 1), cluster.truth());
    for (const { name } of cluster.truth().works) expect(askOwner(cluster, `Notebook notebooks/${name}`)).toBe(true);
    cluster.advance(hour);
    expect(before.paidNotBusy).toBe(8);
    expect(trueWaste(scenario(never, 4, 1), cluster.truth())).toEqual(before);
  });

  it("counts a job that ended once, however often it began", () => {
    const work = workloadOf(
      "PyTorchJob",
      "notebooks",
      1,
      { kind: "physicalGpus", count: 2 },
      { kind: "steady", level: 0.9 },
    );
    const plain = scenario(work, 1, 1);
    const [habit] = plain.habits;
    if (habit === undefined) throw new Error("no habit");
    const ending = { ...plain, habits: [{ ...habit, runSeconds: [hour, hour] as const }] };
    const cluster = createSimulatedCluster({ scenario: ending, seed: 3, startAt });
    cluster.advance(hour / 2);
    const [job] = cluster.truth().works;
    const path = `/apis/kubeflow.org/v1/namespaces/notebooks/pytorchjobs/${job?.name}`;
    for (const suspend of [true, false]) {
      expect(cluster.api.write(patch(path, { spec: { runPolicy: { suspend } } })).code).toBe(200);
      cluster.advance(60);
    }
    expect(cluster.truth().lostGpuSeconds).toBeGreaterThan(hour / 2);
    cluster.advance(2 * hour);
    expect(cluster.truth().finished).toEqual({ workloads: 1, gpuSeconds: 2 * hour });
  });
});

const neverWatched = () => {
  throw new Error("no watch is asked for");
};
