import { describe, expect, it } from "vitest";
import type { Analysis } from "../../../exporter/analysis/analysis.ts";
import { defaultConfig } from "../../../exporter/config/defaults.ts";
import { buildDocument } from "../../../exporter/publish/document/buildDocument.ts";
import { documentSchema } from "../../../exporter/publish/document/schema.ts";
import { explain } from "../../../exporter/publish/explain/explain.ts";
import { explanationText } from "../../../exporter/publish/terminal/explanation.ts";
import { overview } from "../../../exporter/publish/terminal/overview.ts";
import {
  admissionCheckObject,
  analysisOf,
  at,
  before,
  conditionObject,
  container,
  gpu,
  gpuNodeObject,
  type JobParts,
  jobObject,
  limitRangeObject,
  podObject,
  queueObjects,
  workloadObject,
} from "./kueueApiObjects.ts";

const pendingOf = (analysis: Analysis) => documentSchema.parse(buildDocument(analysis)).pending;
const queueOf = ({ snapshot }: Analysis, name: string) => snapshot.queueing.queues.find((one) => one.name === name);
/** Text without line breaks, as someone reads it. */
const plain = (text: string): string => text.replaceAll(/\s+/g, " ");
const inspected = (analysis: Analysis): string => plain(overview(analysis, []));
function explained(analysis: Analysis, queue = "cq"): string {
  const found = explain("queue", queue, { analysis, settings: defaultConfig, problems: [], accountedTime: null });
  return found.ok ? plain(explanationText(found.explanation)) : found.error;
}

describe("an elastic job that runs 4 pods and scales to 6", () => {
  const elastic = { "kueue.x-k8s.io/elastic-job": "true" };
  const old = workloadObject("train-1", {
    count: 4,
    containers: [container(1)],
    job: "train",
    annotations: elastic,
    reserved: 4,
    conditions: [
      conditionObject("Admitted", "True", "Admitted"),
      conditionObject("PodsReady", "True", "Started", "", 10_000),
    ],
  });
  const larger = (parts: Partial<JobParts> = {}, of = "research/train-1", name = "train-2") =>
    workloadObject(name, {
      count: 6,
      containers: [container(1)],
      job: "train",
      annotations: { ...elastic, "kueue.x-k8s.io/workload-slice-replacement-for": of },
      ...parts,
    });
  const running = [0, 1, 2, 3].map((i) => podObject("train", i, "n"));
  const gated = [4, 5].map((i) => podObject("train", i, null));
  const cluster = [gpuNodeObject("n", 8), ...queueObjects(5), jobObject("train", 6), old, ...running];

  it.each([
    ["whose new pods are kept by their gate", gated, 2],
    ["whose new pods are not made yet", [], 0],
  ])("asks for 2 more in one record, %s", (_, pods, createdPods) => {
    const analysis = analysisOf([...cluster, ...pods, larger()]);
    expect(pendingOf(analysis)).toMatchObject([
      { kind: "Job", name: "train", gpus: 2, pods: 2, growth: { from: 4, to: 6 }, cause: "quota", never: null },
    ]);
    expect(analysis.snapshot.queueing.gangs[0]?.parts).toMatchObject([{ pods: 2, createdPods }]);
    expect(queueOf(analysis, "cq")).toMatchObject({ allocated: 4, pending: 2, reserved: 4 });
    expect(analysis.waiting.partialGangs).toEqual([]);
    expect(explained(analysis)).toContain("2.0 GPUs in 2 pods more (it runs with 4 of 6 pods)");
  });

  it("does so whichever of its two Workloads comes first by name", () => {
    for (const pods of [gated, []]) {
      const analysis = analysisOf([...cluster, ...pods, larger({}, "research/train-1", "before")]);
      expect(pendingOf(analysis)).toMatchObject([{ gpus: 2, bound: 0, growth: { from: 4, to: 6 } }]);
      expect(analysis.snapshot.queueing.gangs[0]?.parts).toMatchObject([{ pods: 2, createdPods: pods.length }]);
    }
  });

  it("that has the quota for 6 has it once, and asks for the 2 pods that are not bound", () => {
    const analysis = analysisOf([...cluster, ...gated, larger({ reserved: 6 })]);
    expect(queueOf(analysis, "cq")).toMatchObject({ allocated: 4, pending: 2, reserved: 6 });
    expect(pendingOf(analysis)).toMatchObject([{ gpus: 2, bound: 4, min: 6, growth: null }]);
  });

  it("is two jobs where the larger one replaces nothing that is there", () => {
    const other = [gpuNodeObject("n", 8), ...queueObjects(5), larger({ job: "other" }, "elsewhere/train-1")];
    expect(pendingOf(analysisOf([...other, old, ...running]))).toMatchObject([
      { name: "other", gpus: 6, growth: null },
    ]);
  });

  it("is of its own namespace, whatever its annotation names", () => {
    const namespace = "elsewhere";
    const foreign = { ...old, metadata: { name: "train-1", uid: "uid-foreign", namespace } };
    const objects = [gpuNodeObject("n", 8), ...queueObjects(5), foreign, larger({}, "elsewhere/train-1")];
    expect(pendingOf(analysisOf(objects)).find(({ name }) => name === "train")).toMatchObject({
      gpus: 6,
      growth: null,
    });
  });

  it("asks for nothing more when it shrinks", () => {
    expect(pendingOf(analysisOf([...cluster, larger({ count: 3 })]))).toEqual([]);
  });

  it("that lost a pod asks for that one, too", () => {
    const lost = { ...podObject("train", 3, null), spec: { containers: [container(1)] } };
    const analysis = analysisOf([...cluster.slice(0, -1), lost, ...gated, larger()]);
    expect(pendingOf(analysis).map(({ gpus, growth }) => [gpus, growth])).toEqual(
      expect.arrayContaining([
        [1, null],
        [2, { from: 4, to: 6 }],
      ]),
    );
    expect(queueOf(analysis, "cq")).toMatchObject({ allocated: 3, pending: 3 });
  });
});

describe("admission checks", () => {
  const check = (name: string, state: string, message: string) => ({
    admissionChecks: [{ name, state, message, lastTransitionTime: before(3600) }],
  });
  const provisioning = admissionCheckObject("nodes-to-come", "kueue.x-k8s.io/provisioning-request");
  const budget = admissionCheckObject("budget", "example.com/budget");
  const train = (parts: Partial<JobParts>) =>
    workloadObject("train", { count: 2, containers: [container(4)], ...parts });
  const cluster = [gpuNodeObject("n", 8), ...queueObjects(8), provisioning, budget];
  const message = "Waiting for the scale-up of 2 nodes, ETA 12 min";

  it("that are pending with quota reserved are the cause, by name and in their own words", () => {
    const analysis = analysisOf([
      ...cluster,
      train({ reserved: 2, status: check("nodes-to-come", "Pending", message) }),
    ]);
    expect(pendingOf(analysis)).toMatchObject([
      {
        cause: "admission_check",
        never: null,
        gpus: 8,
        awaitsNodes: true,
        admissionChecks: [
          { name: "nodes-to-come", state: "Pending", message, controller: "kueue.x-k8s.io/provisioning-request" },
        ],
      },
    ]);
    expect(analysis.snapshot.queueing.gangs[0]?.awaitsNodes).toBe(true);
    expect(inspected(analysis)).toContain(`AdmissionCheck nodes-to-come is Pending: ${message}`);
    expect(explained(analysis)).toContain(`cause admission_check; AdmissionCheck nodes-to-come is Pending: ${message}`);
    expect(analysis.waiting.queues[0]?.gpus).toEqual({ admission_check: 8 });
  });

  it("of another controller bring no nodes", () => {
    const analysis = analysisOf([
      ...cluster,
      train({ reserved: 2, status: check("budget", "Pending", "over budget") }),
    ]);
    expect(pendingOf(analysis)).toMatchObject([{ cause: "admission_check", awaitsNodes: false }]);
  });

  it("whose AdmissionCheck nobody can read are named still", () => {
    const objects = [gpuNodeObject("n", 8), ...queueObjects(8)];
    const analysis = analysisOf([...objects, train({ reserved: 2, status: check("x", "Pending", "soon") })]);
    expect(pendingOf(analysis)).toMatchObject([
      { cause: "admission_check", awaitsNodes: false, admissionChecks: [{ name: "x", controller: null }] },
    ]);
  });

  it("hold back work that has lost its quota to them: they ask again later", () => {
    const analysis = analysisOf([...cluster, train({ status: check("nodes-to-come", "Retry", "out of stock") })]);
    expect(pendingOf(analysis)).toMatchObject([
      { cause: "admission_check", awaitsNodes: false, admissionChecks: [{ state: "Retry", message: "out of stock" }] },
    ]);
  });

  it("that have rejected work say so, and it is no demand", () => {
    const status = check("budget", "Rejected", "no money");
    const analysis = analysisOf([...cluster, train({ spec: { active: false }, status })]);
    expect(pendingOf(analysis)).toMatchObject([{ cause: "admission_check", never: "paused" }]);
    expect(queueOf(analysis, "cq")?.pending).toBe(0);
  });

  it.each([
    ["of work without quota are not looked at yet", { status: check("budget", "Pending", "") }, "quota"],
    [
      "that have passed hold nothing back",
      {
        reserved: 2,
        status: check("budget", "Ready", ""),
        conditions: [conditionObject("Admitted", "True", "Admitted")],
      },
      "gang",
    ],
    [
      "that were added after the admission hold nothing back",
      {
        reserved: 2,
        status: check("budget", "Pending", ""),
        conditions: [conditionObject("Admitted", "True", "Admitted")],
      },
      "gang",
    ],
  ] as const)("%s", (_, parts, cause) => {
    const analysis = analysisOf([...cluster, train(parts)]);
    expect(pendingOf(analysis)).toMatchObject([{ cause, admissionChecks: [], awaitsNodes: false }]);
    expect(inspected(analysis)).not.toContain("HELD BACK");
  });
});

describe("MultiKueue's manager", () => {
  const sender = admissionCheckObject("workers", "kueue.x-k8s.io/multikueue");
  const check = (state: string, message: string) => [
    { name: "workers", state, message, lastTransitionTime: before(7200) },
  ];
  const train = (parts: Partial<JobParts>) =>
    workloadObject("train", { count: 2, containers: [container(4)], ...parts });
  // The manager has GPUs of its own, too: what runs elsewhere must not ask for them.
  const cluster = [gpuNodeObject("n", 8), ...queueObjects(16), sender, jobObject("train", 2)];
  const taken = {
    reserved: 2,
    conditions: [conditionObject("Admitted", "True", "Admitted")],
    status: { admissionChecks: check("Ready", 'The workload was admitted on "worker1"'), clusterName: "worker1" },
  };

  it("shows work that a worker has taken as dispatched: it neither holds nor waits here", () => {
    const analysis = analysisOf([...cluster, train(taken)]);
    const { pending, dispatched } = buildDocument(analysis);
    expect(pending).toEqual([]);
    expect(dispatched).toEqual([
      {
        ...{ namespace: "research", kind: "Job", name: "train", team: "research", queue: "cq", localQueue: "q" },
        ...{ priorityClass: "none", cluster: "worker1", since: "2026-11-20T10:00:00.000Z", pods: 2, gpus: 8 },
      },
    ]);
    expect(queueOf(analysis, "cq")).toMatchObject({ allocated: 0, pending: 0, reserved: 8 });
    expect(inspected(analysis)).toContain("worker1: 8.0 GPUs for Job research/train");
    expect(explained(analysis)).toContain("worker1: 8.0 GPUs for Job research/train");
  });

  it("finds the worker in the check's words where the status does not name it", () => {
    const status = { admissionChecks: check("Ready", 'The workload got reservation on "worker2"') };
    const { pending, dispatched } = buildDocument(analysisOf([...cluster, train({ ...taken, status })]));
    expect([pending, dispatched]).toMatchObject([[], [{ cluster: "worker2" }]]);
  });

  it("takes the worker from the status first, and says so where nothing names one", () => {
    const clusterOf = (status: object) =>
      buildDocument(analysisOf([...cluster, train({ ...taken, status })])).dispatched[0]?.cluster;
    expect(clusterOf({ admissionChecks: check("Ready", "done"), clusterName: "worker1" })).toBe("worker1");
    expect(clusterOf({ admissionChecks: check("Ready", "done") })).toBeNull();
  });

  it("whose AdmissionChecks nobody can read is known by the clusters that it names", () => {
    const objects = cluster.filter((one) => one !== sender);
    const { pending, dispatched } = buildDocument(analysisOf([...objects, train(taken)]));
    expect([pending, dispatched]).toMatchObject([[], [{ cluster: "worker1" }]]);
    const status = { admissionChecks: check("Pending", ""), nominatedClusterNames: ["worker1"] };
    expect(pendingOf(analysisOf([...objects, train({ reserved: 2, status })]))).toMatchObject([
      { cause: "admission_check", never: "elsewhere" },
    ]);
  });

  it("shows work that no worker has taken yet as waiting for that, and as no demand on nodes here", () => {
    const status = {
      admissionChecks: check("Pending", "The workload was nominated"),
      nominatedClusterNames: ["worker1", "worker2"],
    };
    const analysis = analysisOf([...cluster, train({ reserved: 2, status })]);
    expect(pendingOf(analysis)).toMatchObject([{ cause: "admission_check", never: "elsewhere", gpus: 8 }]);
    expect(buildDocument(analysis).dispatched).toEqual([]);
    expect(queueOf(analysis, "cq")).toMatchObject({ pending: 0 });
    const said =
      "AdmissionCheck workers is Pending (no cluster has taken it yet; asked: worker1, worker2): The workload was nominated";
    expect(inspected(analysis)).toContain(said);
    expect(explained(analysis)).toContain(said);
  });

  it("says of a worker's copy that its work waits elsewhere, until the worker has given it quota", () => {
    const copy = (parts: Partial<JobParts>) => {
      const made = train(parts);
      const labels = { "kueue.x-k8s.io/multikueue-origin": "multikueue" };
      return { ...made, metadata: { ...("metadata" in made ? Object(made.metadata) : {}), labels } };
    };
    const worker = [gpuNodeObject("n", 8), ...queueObjects(16), jobObject("train", 2)];
    const waiting = analysisOf([...worker, copy({})]);
    expect(pendingOf(waiting)).toMatchObject([{ isCopy: true, never: null, cause: "quota", gpus: 8 }]);
    expect(queueOf(waiting, "cq")).toMatchObject({ pending: 8 });
    expect(explained(waiting)).toContain("MultiKueue made it for work that waits in another cluster");
    const [given] = pendingOf(analysisOf([...worker, copy({ reserved: 2 })]));
    expect([given?.isCopy, given?.reason]).toEqual([false, ""]);
  });

  it("shows work without quota as waiting for quota", () => {
    const analysis = analysisOf([...cluster, train({ status: { admissionChecks: check("Pending", "") } })]);
    expect(pendingOf(analysis)).toMatchObject([{ cause: "quota", never: "elsewhere" }]);
  });

  it("without GPUs of its own explains its queues by what they sent away", () => {
    const analysis = analysisOf([...queueObjects(16), sender, jobObject("train", 2), train(taken)]);
    expect(explained(analysis)).toContain("worker1: 8.0 GPUs for Job research/train");
    expect(pendingOf(analysis)).toEqual([]);
  });

  it("leaves work alone that it does not manage: a worker's own waits and asks as ever", () => {
    const analysis = analysisOf([...cluster.slice(0, -2), train({ reserved: 2 })]);
    expect(pendingOf(analysis)).toMatchObject([{ never: null, gpus: 8 }]);
    expect(queueOf(analysis, "cq")).toMatchObject({ pending: 8 });
  });
});

describe("partial admission", () => {
  const train = (minCount: number | undefined, more: Partial<JobParts> = {}) =>
    workloadObject("train", {
      count: 12,
      containers: [container(1)],
      ...(minCount === undefined ? {} : { minCount }),
      ...more,
    });
  const cluster = [gpuNodeObject("n", 8), ...queueObjects(8)];

  it("asks for the fewest pods that will do, and both sizes are shown", () => {
    const analysis = analysisOf([...cluster, train(6)]);
    expect(pendingOf(analysis)).toMatchObject([{ gpus: 6, pods: 6, min: 6, mostGpus: 12, mostPods: 12, never: null }]);
    expect(queueOf(analysis, "cq")?.pending).toBe(6);
    expect(explained(analysis)).toContain("at least 6.0 GPUs in 6 pods (at most 12.0 GPUs in 12 pods)");
  });

  it("can never run where its queue may not even have these few", () => {
    const [pending] = pendingOf(analysisOf([...cluster, train(9)]));
    expect(pending).toMatchObject({ never: "above-limit", gpus: 9, mostGpus: 12 });
  });

  it("without it all pods are needed, and its queue may never have them", () => {
    const [pending] = pendingOf(analysisOf([...cluster, train(undefined)]));
    expect(pending).toMatchObject({ never: "above-limit", gpus: 12, mostGpus: null, mostPods: null });
  });

  it("fits where the fewest fit", () => {
    const allocated = [0, 1].map((i) => podObject("other", i, "n"));
    const verdict = (minCount: number) => {
      const analysis = analysisOf([...cluster, ...allocated, train(minCount)]);
      return analysis.gangFreeCapacities.askedOf(0)?.verdict;
    };
    expect([verdict(6), verdict(7)]).toEqual(["fits", "too-little"]);
  });

  it("that was admitted asks for the pods that it was admitted with", () => {
    const analysis = analysisOf([...cluster, train(6, { reserved: 7 })]);
    expect(pendingOf(analysis)).toMatchObject([{ gpus: 7, pods: 7, mostGpus: null }]);
  });
});

describe("a LimitRange", () => {
  const max = (amount: number, type = "Container", resource = gpu) => ({ type, max: { [resource]: String(amount) } });
  const train = (parts: Partial<JobParts> = {}) =>
    workloadObject("train", { count: 2, containers: [container(8)], ...parts });
  const cluster = [gpuNodeObject("n", 8), gpuNodeObject("m", 8), ...queueObjects(32)];
  const misconfigured = {
    conditions: [
      conditionObject("QuotaReserved", "False", "Misconfigured", "resources didn't satisfy LimitRange constraints"),
    ],
  };

  it("that allows less than a container asks for is the reason, with its name and the amounts", () => {
    const analysis = analysisOf([
      ...cluster,
      limitRangeObject("small-pods", [max(4)]),
      train({ status: misconfigured }),
    ]);
    const said = "LimitRange small-pods allows a container at most 4 nvidia.com/gpu, and it asks for 8";
    expect(pendingOf(analysis)).toMatchObject([
      { cause: "constraint", never: "limit-range", gpus: 16, reason: expect.stringContaining(said) },
    ]);
    expect(queueOf(analysis, "cq")?.pending).toBe(0);
    expect(inspected(analysis)).toContain(said);
    expect(explained(analysis)).toContain(`a LimitRange of its namespace refuses its pods; ${said}`);
  });

  it("refuses the pods of a job that is admitted, as long as they are not there", () => {
    const limit = limitRangeObject("small-pods", [max(4)]);
    const admitted = train({ reserved: 2, conditions: [conditionObject("Admitted", "True", "Admitted")] });
    expect(pendingOf(analysisOf([...cluster, limit, admitted]))).toMatchObject([
      { cause: "constraint", never: "limit-range" },
    ]);
    const waits = (i: number) => ({
      ...podObject("train", i, null),
      spec: { containers: [container(8)] },
    });
    expect(pendingOf(analysisOf([...cluster, limit, admitted, waits(0), waits(1)]))).toMatchObject([
      { never: null, gpus: 16 },
    ]);
  });

  it("of a pod counts its containers together", () => {
    const two = [container(4, "a"), container(4, "b")];
    const neverOf = (limit: object) =>
      pendingOf(analysisOf([...cluster, limitRangeObject("l", [limit]), train({ containers: two })]))[0]?.never;
    expect([neverOf(max(4, "Pod")), neverOf(max(4)), neverOf(max(8, "Pod"))]).toEqual(["limit-range", null, null]);
  });

  it.each([
    ["of another namespace", limitRangeObject("small-pods", [max(4)], "elsewhere")],
    ["about CPU alone", limitRangeObject("small-pods", [max(4, "Container", "cpu")])],
    ["that allows as much", limitRangeObject("small-pods", [max(8)])],
    ["about volumes", limitRangeObject("small-pods", [max(4, "PersistentVolumeClaim")])],
  ])("%s changes nothing", (_, limit) => {
    const without = pendingOf(analysisOf([...cluster, train()]));
    expect(pendingOf(analysisOf([...cluster, limit, train()]))).toEqual(without);
    expect(without).toMatchObject([{ cause: "quota", never: null }]);
  });

  it("gives containers that ask for nothing its default, which Kueue does not write into the Workload", () => {
    const limit = limitRangeObject("two-each", [
      { type: "Container", default: { [gpu]: "2" }, defaultRequest: { [gpu]: "2" } },
    ]);
    const bare = train({ containers: [container(0, "a"), container(3, "b")] });
    expect(pendingOf(analysisOf([...cluster, limit, bare]))).toMatchObject([{ gpus: 10, pods: 2 }]);
    expect(pendingOf(analysisOf([...cluster, bare]))).toMatchObject([{ gpus: 6, pods: 2 }]);
    const nothing = train({ containers: [container(0)] });
    expect(pendingOf(analysisOf([...cluster, limit, nothing]))).toMatchObject([{ gpus: 4 }]);
    expect(pendingOf(analysisOf([...cluster, nothing]))).toEqual([]);
  });
});

it("counts its moments from the same time", () => {
  expect(Date.parse(before(0)) / 1000).toBe(at);
});
