import fc from "fast-check";
import { describe, expect, it } from "vitest";
import type { Candidate, Found } from "../../../exporter/advice/candidate.ts";
import { findReleaseIdle } from "../../../exporter/advice/kinds/releaseIdle.ts";
import type { AdviceMoment } from "../../../exporter/advice/moment.ts";
import { createTrial } from "../../../exporter/advice/whatIf/trial.ts";
import type { ClusterState } from "../../../exporter/model/cluster.ts";
import type { Pod } from "../../../exporter/model/pod.ts";
import { account, listed } from "../../analysis/prices/priceBuilder.ts";
import { gpuNode, gpuPod, now } from "../../join/clusterBuilder.ts";
import {
  analysisAt,
  deployment,
  hour,
  momentOf,
  pageAt,
  physicalGpu,
  podOf,
  replicaSet,
} from "../usage/watchedCluster.ts";

const notebook = deployment("notebook-big");
const idleFor = 3 * hour + 600;

interface Case {
  readonly activity?: number;
  readonly idleSeconds?: number;
  /** It has never done anything since its pod was bound. */
  readonly neverWorked?: boolean;
  readonly pod?: Partial<Pod>;
  readonly more?: Partial<ClusterState>;
  readonly pods?: readonly Pod[];
}

/** A node of 8 GPUs that one notebook holds. */
function cluster({ activity = 0.01, pod = {}, more = {}, pods = [] }: Case): Partial<ClusterState> {
  const physicalGpus = Array.from({ length: 8 }, (_, i) => physicalGpu(`GPU-${i}`, activity, "nb-0"));
  const longAgo = { createdAt: now - 4 * hour, scheduledAt: now - 4 * hour };
  return {
    nodes: [gpuNode("n1", 8)],
    owners: [notebook, replicaSet(notebook)],
    pods: [podOf(notebook, "nb-0", "n1", 8, { ...longAgo, ...pod }), ...pods],
    telemetry: [pageAt("n1", physicalGpus)],
    ...more,
  };
}

function momentWith(given: Case): AdviceMoment {
  const since = now - (given.neverWorked === true ? 4 * hour : (given.idleSeconds ?? idleFor));
  const idleSince = new Map(Array.from({ length: 8 }, (_, i) => [`n1/GPU-${i}`, since]));
  return momentOf(analysisAt(cluster(given), now, { idleSince }));
}

const found = (moment: AdviceMoment): Found => findReleaseIdle(moment, createTrial(moment));

function only(moment: AdviceMoment): Candidate {
  const { candidates } = found(moment);
  expect(candidates).toHaveLength(1);
  const [first] = candidates;
  if (first === undefined) throw new Error("no candidate");
  return first;
}

describe("idle work", () => {
  it("that never worked is let go by the team that pays for it", () => {
    const moment = momentWith({ neverWorked: true, more: { prices: account([listed()]) } });
    const candidate = only(moment);
    expect(candidate.title).toBe(
      "release 8 idle H100-80GB-HBM3 of research/notebook-big: nothing ran since 2027-01-15 04:00 UTC",
    );
    expect(candidate).toMatchObject({
      beneficiary: { kind: "team", name: "research" },
      targets: ["Deployment research/notebook-big"],
      fromTeam: "research",
      pool: "H100-80GB-HBM3",
      plan: { changes: [{ kind: "stop", workload: 0 }], starts: [] },
      disrupted: [0],
      unused: [{ node: "n1", gpus: 8, since: expect.any(Number) }],
      signs: [{ kind: "pods-left", pods: [{ uid: "uid-research-nb-0", node: "n1" }] }],
      measuredBy: { kind: "work-released", work: ["Deployment/research/notebook-big"], gpus: 8 },
    });
    expect(candidate.decision?.act).toBe("do");
    expect(candidate.reason).toContain("They cost 80 USD an hour");
    expect(candidate.steps[0]?.request).toMatchObject({
      verb: "PATCH",
      path: "/apis/apps/v1/namespaces/research/deployments/notebook-big",
    });
  });

  it("gives back in the trial what it held", () => {
    const moment = momentWith({});
    const candidate = only(moment);
    expect(candidate.gainedGpus(createTrial(moment).outcome(candidate.plan, "mostAllocated"))).toBe(8);
  });

  it("has no cost where nothing has a price", () => {
    expect(only(momentWith({})).reason).not.toContain("They cost");
  });

  it("that has worked before is asked about, without a step that stops it", () => {
    const candidate = only(momentWith({}));
    expect(candidate.title).toMatch(/^ask team research about 8 idle/);
    expect(candidate).toMatchObject({ decision: { act: "ask" }, steps: [] });
    expect(candidate.questions?.[0]).toMatchObject({ to: "team research", about: "Deployment research/notebook-big" });
  });

  it("makes room for waiting work that does not fit now, the most important first", () => {
    const waiting = [
      gpuPod("large", null, 8, { priority: 1 }),
      gpuPod("larger-than-all", null, 16, { priority: 100 }),
      gpuPod("later", null, 8, { createdAt: now - 60 }),
    ];
    const moment = momentWith({ pods: waiting });
    const { gangs } = moment.analysis.snapshot.queueing;
    expect(only(moment).plan.starts.map((index) => gangs[index]?.name)).toEqual(["large"]);
  });

  const reasons: readonly (readonly [what: string, given: Case])[] = [
    ["is active", { activity: 0.5 }],
    ["has been idle for less than the window", { idleSeconds: 1700 }],
    ["asked to be left alone", { pod: { labels: { "fairlead.dev/idle-opt-out": "true" } } }],
    ["has just got its pod", { pod: { createdAt: now - 600, scheduledAt: now - 600 } }],
    ["serves, and the night is not over", { pod: { labels: { "fairlead.dev/workload-class": "serving" } } }],
    ["is not observed", { more: { telemetry: [] } }],
    ["starts", { pod: { allContainersStarted: false, scheduledAt: now - 60 } }],
  ];
  it.each(reasons)("is nothing of the kind when it %s", (_what, given) => {
    expect(found(momentWith(given))).toEqual({ candidates: [], withheld: [] });
  });

  it("is nothing of the kind while one of its pods is active", () => {
    const second = podOf(notebook, "nb-1", "n2", 1, { createdAt: now - 4 * hour, scheduledAt: now - 4 * hour });
    const nodes = [gpuNode("n1", 8), gpuNode("n2", 1)];
    const base = cluster({ pods: [second] });
    const telemetry = [...(base.telemetry ?? []), pageAt("n2", [physicalGpu("GPU-x", 0.9, "nb-1")])];
    const idleSince = new Map(Array.from({ length: 8 }, (_, i) => [`n1/GPU-${i}`, now - idleFor]));
    const moment = momentOf(analysisAt({ ...base, nodes, telemetry }, now, { idleSince }));
    expect(found(moment)).toEqual({ candidates: [], withheld: [] });
  });

  it("is not named where nobody knows which devices it holds", () => {
    const quiet = Array.from({ length: 8 }, (_, i) => physicalGpu(`GPU-${i}`, 0.01));
    const four = podOf(notebook, "nb-0", "n1", 4, { createdAt: now - 4 * hour, scheduledAt: now - 4 * hour });
    const { candidates, withheld } = found(momentWith({ more: { telemetry: [pageAt("n1", quiet)], pods: [four] } }));
    expect(withheld).toMatchObject([{ why: "guard", subject: "holdings that are estimated" }]);
    expect(candidates).toEqual([]);
    expect(JSON.stringify(withheld)).not.toContain("notebook-big");
  });

  it("is withheld with the reason while another of its pods waits", () => {
    const { candidates, withheld } = found(momentWith({ pods: [podOf(notebook, "nb-1", null, 8)] }));
    expect(candidates).toEqual([]);
    expect(withheld[0]).toMatchObject({ subject: "research/notebook-big", why: "no-plan" });
  });

  it("is withheld where no request stops it", () => {
    const bare = gpuPod("nb-0", "n1", 8, { createdAt: now - 4 * hour, scheduledAt: now - 4 * hour });
    const idleSince = new Map(Array.from({ length: 8 }, (_, i) => [`n1/GPU-${i}`, now - idleFor]));
    const { candidates, withheld } = found(momentOf(analysisAt({ ...cluster({}), pods: [bare] }, now, { idleSince })));
    expect(candidates).toEqual([]);
    expect(withheld).toHaveLength(1);
    expect(withheld[0]?.reason).toContain("8 idle GPUs for 3 h 10 min");
  });
});

/** Many one-GPU workloads, each with what it does. */
interface Kind {
  readonly isIdle: boolean;
  readonly isOptedOut: boolean;
  readonly isNamed: boolean;
}

describe("whoever is named", () => {
  const kinds = fc.array(fc.record({ isIdle: fc.boolean(), isOptedOut: fc.boolean(), isNamed: fc.boolean() }), {
    minLength: 1,
    maxLength: 14,
  });

  function manyOf(
    workloads: readonly Kind[],
    order: <T>(items: readonly T[]) => readonly T[] = (items) => items,
  ): AdviceMoment {
    const owners = workloads.map((_, i) => deployment(`w-${i}`));
    const idleSince = new Map<string, number>();
    const pods = owners.map((one, i) =>
      podOf(one, `p-${i}`, `n-${i}`, 1, {
        labels: workloads[i]?.isOptedOut === true ? { "fairlead.dev/idle-opt-out": "true" } : {},
      }),
    );
    const telemetry = workloads.map(({ isIdle, isNamed }, i) => {
      for (const uuid of [`A-${i}`, `B-${i}`]) if (isIdle) idleSince.set(`n-${i}/${uuid}`, now - 7200 + (i % 3));
      const activity = isIdle ? 0 : 0.7;
      const named = isNamed ? `p-${i}` : undefined;
      return pageAt(`n-${i}`, [physicalGpu(`A-${i}`, activity, named), physicalGpu(`B-${i}`, activity)]);
    });
    const parts: Partial<ClusterState> = {
      nodes: order(workloads.map((_, i) => gpuNode(`n-${i}`, 2))),
      owners: order(owners.flatMap((one) => [one, replicaSet(one)])),
      pods: order(pods),
      telemetry: order(telemetry),
    };
    return momentOf(analysisAt(parts, now, { idleSince }));
  }

  it("is never active, opted out or estimated", () => {
    fc.assert(
      fc.property(kinds, (workloads) => {
        const moment = manyOf(workloads);
        const { candidates } = found(moment);
        const expected = workloads.flatMap(({ isIdle, isOptedOut, isNamed }, i) =>
          isIdle && !isOptedOut && isNamed ? [`Deployment research/w-${i}`] : [],
        );
        expect(candidates.length).toBe(Math.min(10, expected.length));
        for (const { targets } of candidates) expect(expected).toContain(targets[0]);
      }),
      { numRuns: 40, seed: 11 },
    );
  });

  it("does not depend on the order of nodes, pods and pages", () => {
    fc.assert(
      fc.property(kinds, (workloads) => {
        const titles = (moment: AdviceMoment) => found(moment).candidates.map(({ title }) => title);
        expect(titles(manyOf(workloads, (items) => items.toReversed()))).toEqual(titles(manyOf(workloads)));
      }),
      { numRuns: 30, seed: 3 },
    );
  });
});
