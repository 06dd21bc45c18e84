import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { DatabaseSync } from "node:sqlite";
import fc from "fast-check";
import { afterAll, describe, expect, it } from "vitest";
import { createAccounting } from "../../../exporter/accounts/accounting.ts";
import { openSqliteLedger } from "../../../exporter/accounts/ledger/sqliteLedger.ts";
import { defaultConfig } from "../../../exporter/config/defaults.ts";
import type { Review } from "../../../review/document/review.ts";
import { mergeReviews } from "../../../review/merge/mergeReviews.ts";
import { keepAll } from "../../accounts/ledger/entries.ts";
import {
  admissionCheckObject,
  analysisOf,
  at,
  before,
  conditionObject,
  container,
  gpuNodeObject,
  jobObject,
  meta,
  podObject,
  queueObjects,
  workloadObject,
} from "../../join/queues/kueueApiObjects.ts";
import { reviewOf } from "../reviewOf.ts";

const folder = mkdtempSync(path.join(tmpdir(), "fairlead-multikueue-"));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

/** Where a job of the manager is: it has no quota there, no worker has taken it yet, or it runs in a worker. */
type Place = "no-quota" | "not-taken" | "worker1" | "worker2";

/** A job of one pod for each GPU, and where it is in the first and in the second half minute. */
interface SentJob {
  readonly name: string;
  readonly gpus: number;
  readonly first: Place;
  readonly second: Place;
}

const sender = admissionCheckObject("workers", "kueue.x-k8s.io/multikueue");
const check = (state: string) => [{ name: "workers", state, message: "", lastTransitionTime: before(60) }];
const origin = "kueue.x-k8s.io/multikueue-origin";

/** A node and a pod without GPUs, which every cluster has: a dump without nodes or pods does not say what there is. */
const plain: readonly object[] = [
  { apiVersion: "v1", kind: "Node", metadata: meta("plain"), status: { capacity: { cpu: "8" }, conditions: [] } },
  {
    apiVersion: "v1",
    kind: "Pod",
    metadata: { ...meta("dns"), namespace: "kube-system" },
    spec: { nodeName: "plain", containers: [{ name: "main" }] },
    status: { phase: "Running" },
  },
];

interface Made {
  readonly metadata: { readonly labels?: object };
}

const isMade = (object: object): object is Made => "metadata" in object;

/** A Workload that MultiKueue made in a worker. */
function copyOf(workload: object): object {
  if (!isMade(workload)) throw new Error("a Workload without metadata");
  const { metadata } = workload;
  return { ...workload, metadata: { ...metadata, labels: { ...metadata.labels, [origin]: "multikueue" } } };
}

function ofManager({ name, gpus }: SentJob, place: Place): readonly object[] {
  const parts = { count: gpus, containers: [container(1)] };
  if (place === "no-quota")
    return [jobObject(name, gpus), workloadObject(name, { ...parts, status: { admissionChecks: check("Pending") } })];
  const isTaken = place !== "not-taken";
  const status = isTaken
    ? { admissionChecks: check("Ready"), clusterName: place }
    : { admissionChecks: check("Pending"), nominatedClusterNames: ["worker1", "worker2"] };
  const conditions = isTaken ? [conditionObject("Admitted", "True", "Admitted")] : [];
  return [jobObject(name, gpus), workloadObject(name, { ...parts, reserved: gpus, conditions, status })];
}

function ofWorker(worker: Place, { name, gpus, first }: SentJob, place: Place): readonly object[] {
  const parts = { count: gpus, containers: [container(1)] };
  if (place === "not-taken") return [jobObject(name, gpus), copyOf(workloadObject(name, parts))];
  if (place !== worker) return [];
  // A job that began between the two moments became ready just now.
  const since = first === worker ? 7200 : 0;
  const conditions = ["Admitted", "PodsReady"].map((type) => conditionObject(type, "True", "Started", "", since));
  const pods = Array.from({ length: gpus }, (_, i) => podObject(name, i, `${worker}-node`));
  return [jobObject(name, gpus), copyOf(workloadObject(name, { ...parts, reserved: gpus, conditions })), ...pods];
}

/** The review of a cluster after half a minute of each of two moments. */
async function reviewed(cluster: string, moments: readonly (readonly object[])[]): Promise<Review> {
  const file = path.join(mkdtempSync(path.join(folder, "ledger-")), "ledger.db");
  const opened = await openSqliteLedger({ file, retention: keepAll });
  if (!opened.ok) throw new Error(opened.problem.message);
  const accounting = createAccounting({
    intervalSeconds: 30,
    limits: defaultConfig.limits,
    queues: defaultConfig.queues,
  });
  const [first = [], second = []] = moments;
  for (const [i, objects] of [first, second, second].entries()) {
    const step = accounting.account(analysisOf([...plain, ...objects]), { wall: at + 30 * i, monotonic: 30 * i });
    if (step !== null) opened.ledger.append({ step, remembered: [] });
  }
  await opened.ledger.close();
  const db = new DatabaseSync(file);
  try {
    return await reviewOf(db, cluster, { week: "2026-W47", compare: 0, now: at + 600 });
  } finally {
    db.close();
  }
}

/** What the merged review of manager and workers shows about the last minute. */
async function merged(jobs: readonly SentJob[], managerGpus: number) {
  const both = (of: (job: SentJob, place: Place) => readonly object[], base: readonly object[]) => [
    [...base, ...jobs.flatMap((job) => of(job, job.first))],
    [...base, ...jobs.flatMap((job) => of(job, job.second))],
  ];
  const nodes = managerGpus === 0 ? [] : [gpuNodeObject("manager-node", managerGpus)];
  const reviews = [
    await reviewed("manager", both(ofManager, [...nodes, ...queueObjects(64), sender])),
    ...(await Promise.all(
      (["worker1", "worker2"] as const).map((worker) =>
        reviewed(
          worker,
          both(
            (job, place) => ofWorker(worker, job, place),
            [gpuNodeObject(`${worker}-node`, 32), ...queueObjects(32)],
          ),
        ),
      ),
    )),
  ];
  const result = mergeReviews(reviews);
  if (!result.ok) throw new Error(result.error);
  const { periods, jobs: listed, waits } = result.review;
  const period = periods.at(-1);
  return {
    allocated: period?.allocated ?? 0,
    pending: period?.pending ?? 0,
    jobs: listed?.count ?? 0,
    waits: waits?.byQueue.reduce((sum, row) => sum + row.count, 0) ?? 0,
  };
}

const isRunning = (place: Place): boolean => place.startsWith("worker");
/** GPU-hours of half a minute. */
const halfMinute = (gpus: number): number => (gpus * 30) / 3600;

/** Each job once: running where it runs, waiting once. */
function naive(jobs: readonly SentJob[]) {
  const hours = (isMeant: (place: Place) => boolean): number =>
    jobs.reduce(
      (sum, { gpus, first, second }) =>
        sum + halfMinute(isMeant(first) ? gpus : 0) + halfMinute(isMeant(second) ? gpus : 0),
      0,
    );
  return {
    allocated: hours(isRunning),
    pending: hours((place) => !isRunning(place)),
    // The second moment is seen, but no time after it: what runs only from then on has its time in the last step.
    jobs: jobs.filter(({ first, second }) => isRunning(first) || isRunning(second)).length,
    waits: jobs.filter(({ first, second }) => !isRunning(first) && isRunning(second)).length,
  };
}

const anyJobs = fc
  .array(
    fc.record({
      gpus: fc.integer({ min: 1, max: 4 }),
      first: fc.constantFrom<Place>("no-quota", "not-taken", "worker1", "worker2"),
      later: fc.constantFrom<Place>("no-quota", "not-taken", "worker1", "worker2"),
    }),
    { maxLength: 6 },
  )
  .map((jobs) =>
    jobs.map(
      ({ gpus, first, later }, i): SentJob => ({
        name: `job-${i}`,
        gpus,
        first,
        second: isRunning(first) ? first : later,
      }),
    ),
  );

describe("the review of a MultiKueue manager and its workers", () => {
  it("counts a job that is offered to two workers and waits for both once, and one that runs where it runs", async () => {
    const jobs: readonly SentJob[] = [
      { name: "runs", gpus: 4, first: "worker1", second: "worker1" },
      { name: "offered", gpus: 4, first: "not-taken", second: "not-taken" },
      { name: "queued", gpus: 2, first: "no-quota", second: "no-quota" },
      { name: "starts", gpus: 1, first: "not-taken", second: "worker2" },
    ];
    const found = await merged(jobs, 8);
    expect(found.pending).toBeCloseTo(halfMinute(4 + 2 + 4 + 2 + 1), 9);
    expect(found.allocated).toBeCloseTo(halfMinute(4 + 4 + 1), 9);
    expect(found).toMatchObject({ jobs: 2, waits: 1 });
  });

  it.each([8, 0])("counts each of any jobs once, with %i GPUs of the manager's own", async (managerGpus) => {
    await fc.assert(
      fc.asyncProperty(anyJobs, async (jobs) => {
        const [found, wanted] = [await merged(jobs, managerGpus), naive(jobs)];
        expect(found.allocated).toBeCloseTo(wanted.allocated, 9);
        expect(found.pending).toBeCloseTo(wanted.pending, 9);
        expect([found.jobs, found.waits]).toEqual([wanted.jobs, wanted.waits]);
      }),
      { numRuns: 4, seed: 20_261_128 },
    );
  });
});
