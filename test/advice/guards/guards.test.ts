import { describe, expect, it } from "vitest";
import { askGuards, guardNames } from "../../../exporter/advice/guards/guards.ts";
import type { JobLimits } from "../../../exporter/model/disruption.ts";
import { mayBeDisrupted } from "../../../exporter/model/disruption.ts";
import { device, holding } from "../../analysis/momentBuilder.ts";
import { budget, guardMoment, guardsOf, job, replicaSet, vetoesOf, workloadView } from "./guardMoment.ts";

describe("pods that nothing speaks against", () => {
  it("may be moved, and every guard was asked", () => {
    const answer = askGuards(guardMoment([{}, {}]), {
      pods: [0, 1],
      how: "move",
      beneficiary: { priority: 0, queue: null },
    });
    expect(answer).toEqual({ checked: guardNames, vetoes: [] });
  });
});

describe("what is not known", () => {
  it.each([
    ["a pod that telemetry alone names", { uid: null }],
    ["a pod on no node", { node: null }],
    ["a pod on a node that is not known", { node: "gone" }],
    ["a pod that waits", { status: "pending" as const }],
    ["GPUs that cannot be counted", { gpus: null }],
  ])("%s is left alone", (_, pod) => {
    expect(guardsOf(guardMoment([pod]))).toEqual(["known"]);
  });

  it("is a holding that is only estimated, and a pod that is not there", () => {
    const devices = [device({ holders: [holding({ estimated: true })] })];
    expect(guardsOf(guardMoment([{}], { devices }))).toEqual(["known"]);
    expect(guardsOf(guardMoment([{}]), { pods: [7] })).toEqual(["known"]);
  });

  it("is what a pod shares by a ResourceClaim with others that stay", () => {
    const shared = (source: "dra" | "dcgm") => {
      const holders = [0, 1].map((pod) => holding({ pod, share: 0.5, source }));
      return guardMoment([{}, {}], { devices: [device({ holders }), device({ uuid: "GPU-1" })] });
    };
    expect(guardsOf(shared("dra"), { pods: [0] })).toEqual(["known"]);
    expect(vetoesOf(shared("dra"), { pods: [0] })[0]?.reason).toContain("with Pod research/pod-1, which would stay");
    expect(guardsOf(shared("dra"))).toEqual([]);
    expect(guardsOf(shared("dcgm"), { pods: [0] })).toEqual([]);
  });

  it("are budgets that could not be read, for evictions alone", () => {
    const moment = guardMoment([{}], { podDisruptionBudgets: null });
    expect(guardsOf(moment)).toEqual(["known"]);
    expect(guardsOf(moment, { how: "release", by: "scale" })).toEqual([]);
  });
});

describe("owners", () => {
  it.each([
    ["a bare pod", null],
    ["a pod of a DaemonSet", { ...replicaSet, kind: "DaemonSet" }],
  ])("%s is never taken, whatever the way", (_, owner) => {
    for (const by of ["eviction", "requeue", "scale"] as const)
      expect(guardsOf(guardMoment([{ owner }]), { by })).toEqual(["owner"]);
  });

  it("that nobody knows are not trusted to make a new pod after an eviction", () => {
    const owner = { ...replicaSet, apiVersion: "example.com/v1", kind: "Thing" };
    expect(guardsOf(guardMoment([{ owner }]))).toEqual(["owner"]);
    expect(guardsOf(guardMoment([{ owner }]), { by: "requeue" })).toEqual([]);
  });

  it("are distinguished by their API group", () => {
    expect(guardsOf(guardMoment([{ owner: { ...replicaSet, apiVersion: "apps/v1beta1" } }]))).toEqual([]);
    expect(guardsOf(guardMoment([{ owner: { ...replicaSet, apiVersion: "evil/v1" } }]))).toEqual(["owner"]);
  });
});

describe("what the pod itself says", () => {
  it.each([
    ["static", { isStatic: true }],
    ["do-not-disrupt", { forbiddenBy: "karpenter.sh/do-not-disrupt" }],
    ["local-storage", { hasLocalStorage: true }],
  ])("%s", (guard, disruption) => {
    expect(guardsOf(guardMoment([{ disruption: { ...mayBeDisrupted, ...disruption } }]))).toEqual([guard]);
  });
});

describe("PodDisruptionBudgets", () => {
  it("with 0 allowed are a veto that names them", () => {
    const moment = guardMoment([{}], { podDisruptionBudgets: [budget(0)] });
    expect(vetoesOf(moment)).toEqual([
      {
        guard: "disruption-budget",
        pod: 0,
        reason: "PodDisruptionBudget research/serving allows 0 disruptions, and 1 of its pods would be evicted.",
      },
    ]);
  });

  it("count the pods of a question together", () => {
    const moment = guardMoment([{}, {}], { podDisruptionBudgets: [budget(1)] });
    expect(guardsOf(moment, { pods: [0] })).toEqual([]);
    expect(guardsOf(moment, { pods: [0, 1] })).toEqual(["disruption-budget"]);
    expect(guardsOf(moment, { pods: [0, 0] })).toEqual([]);
  });

  it("that say nothing yet protect", () => {
    expect(guardsOf(guardMoment([{}], { podDisruptionBudgets: [budget(null)] }))).toEqual(["disruption-budget"]);
  });

  it("are one for a pod at most, or the Eviction API refuses it", () => {
    const podDisruptionBudgets = [budget(5), budget(5, { name: "other" })];
    const [veto] = vetoesOf(guardMoment([{}], { podDisruptionBudgets }));
    expect(veto?.reason).toContain("is under 2 PodDisruptionBudgets (serving and other)");
  });

  it("are not asked where the owner is scaled or the queue takes its work back", () => {
    const moment = guardMoment([{}], { podDisruptionBudgets: [budget(0)] });
    expect(guardsOf(moment, { by: "scale" })).toEqual([]);
    expect(guardsOf(moment, { by: "requeue" })).toEqual([]);
  });

  const labels = { app: "web", tier: "front" };
  it.each([
    ["all pods of its namespace", {}, true],
    ["no pod of another namespace", { namespace: "other" }, false],
    ["matchLabels", { matchLabels: { app: "web" } }, true],
    ["matchLabels of others", { matchLabels: { app: "web", tier: "back" } }, false],
    ["In", { matchExpressions: [{ key: "app", operator: "In", values: ["api", "web"] }] }, true],
    ["In of others", { matchExpressions: [{ key: "app", operator: "In", values: ["api"] }] }, false],
    ["In of a label that is not there", { matchExpressions: [{ key: "zone", operator: "In", values: [""] }] }, false],
    ["NotIn", { matchExpressions: [{ key: "app", operator: "NotIn", values: ["web"] }] }, false],
    [
      "NotIn of a label that is not there",
      { matchExpressions: [{ key: "zone", operator: "NotIn", values: ["a"] }] },
      true,
    ],
    ["Exists", { matchExpressions: [{ key: "tier", operator: "Exists", values: [] }] }, true],
    [
      "Exists of what every object has",
      { matchExpressions: [{ key: "toString", operator: "Exists", values: [] }] },
      false,
    ],
    ["DoesNotExist", { matchExpressions: [{ key: "tier", operator: "DoesNotExist", values: [] }] }, false],
    ["a selector that is missing", { matchExpressions: [{ key: "", operator: "In", values: [] }] }, false],
  ])("select by %s", (_, parts, selected) => {
    const moment = guardMoment([{ labels }], { podDisruptionBudgets: [budget(0, parts)] });
    expect(guardsOf(moment)).toEqual(selected ? ["disruption-budget"] : []);
  });
});

describe("Jobs", () => {
  const limits = (parts: Partial<JobLimits>): JobLimits => ({
    backoffLimit: 6,
    failed: 0,
    onDisruption: "Count",
    isSuspended: false,
    ...parts,
  });
  const ofJob = (parts: Partial<JobLimits> | null, pods = 1) =>
    guardMoment(
      Array.from({ length: pods }, () => ({ owner: job })),
      { workloads: [workloadView({ kind: "Job", job: parts === null ? null : limits(parts) })] },
    );

  it.each([
    ["far from its backoffLimit", { failed: 2 }, 1, []],
    ["near its backoffLimit", { failed: 5 }, 1, ["job-backoff"]],
    ["with more pods than it may lose", { failed: 0, backoffLimit: 3 }, 4, ["job-backoff"]],
    ["that ignores disruptions", { failed: 6, onDisruption: "Ignore" as const }, 1, []],
    ["that fails by its podFailurePolicy", { onDisruption: "FailJob" as const }, 1, ["job-backoff"]],
    ["that gives up an index", { onDisruption: "FailIndex" as const }, 1, ["job-backoff"]],
    ["that counts by index", { backoffLimit: null }, 1, ["job-backoff"]],
  ])("%s", (_, parts, pods, vetoes) => {
    expect(guardsOf(ofJob(parts, pods))).toEqual(vetoes);
  });

  it("that could not be read are left alone", () => {
    expect(guardsOf(ofJob(null))).toEqual(["job-backoff"]);
  });

  it("that are suspended whole lose nothing by it", () => {
    for (const by of ["requeue", "scale"] as const) expect(guardsOf(ofJob({ failed: 6 }), { by })).toEqual([]);
  });
});

describe("gangs", () => {
  const gang = { id: "research/g", min: 2, bound: 2, partialSince: null };
  it("leave whole", () => {
    const moment = guardMoment([{ gang }, { gang }, {}]);
    expect(guardsOf(moment, { pods: [0, 1] })).toEqual([]);
    expect(vetoesOf(moment, { pods: [1] })).toEqual([
      {
        guard: "gang-whole",
        pod: 1,
        reason: "Pod research/pod-1 belongs to gang research/g, of which Pod research/pod-0 would stay.",
      },
    ]);
  });

  it("are whole without members that hold nothing", () => {
    expect(guardsOf(guardMoment([{ gang }, { gang, status: "pending", node: null }]), { pods: [0] })).toEqual([]);
  });
});

describe("priority", () => {
  const moment = guardMoment([{ priority: 50 }]);
  const serving = (priority: number) => ({ beneficiary: { priority, queue: null } });

  it("of a pod that is placed again may be equal, not higher", () => {
    expect(guardsOf(moment, serving(50))).toEqual([]);
    expect(guardsOf(moment, serving(49))).toEqual(["priority"]);
  });

  it("of a pod that loses its GPUs must be lower", () => {
    expect(guardsOf(moment, { how: "lose", ...serving(51) })).toEqual([]);
    expect(guardsOf(moment, { how: "lose", ...serving(50) })).toEqual(["priority"]);
    expect(guardsOf(moment, { how: "lose", ...serving(49) })).toEqual(["priority"]);
  });

  it("does not count where a team gives up its own, or a pod makes room for nobody in particular", () => {
    expect(guardsOf(moment, { how: "release", beneficiary: null })).toEqual([]);
    expect(guardsOf(moment, { how: "move", beneficiary: null })).toEqual([]);
  });

  it("does not let anybody lose for nobody", () => {
    expect(guardsOf(moment, { how: "lose", beneficiary: null })).toEqual(["priority"]);
  });
});
