import fc from "fast-check";
import type { KueueCase, RunningJob, WaitingJob } from "./kueueCluster.ts";

const physicalGpus = 8;
const policies = ["Any", "Any", "LowerPriority", "Never"] as const;

/**
 * Clusters of Kueue with three queues of one cohort, whose Jobs fill most of some nodes of 8 GPUs, and with work that waits.
 * Some Jobs ask to be left alone, have volumes on their nodes, priorities and checkpoints.
 */
export const anyKueueCase: fc.Arbitrary<KueueCase> = fc
  .record({
    nodes: fc.integer({ min: 1, max: 4 }),
    jobs: fc.array(
      fc.record({
        queue: fc.constantFrom("ads", "ads", "news", "search"),
        gpusPerPod: fc.constantFrom(1, 2, 4, 4, 8),
        pods: fc.constantFrom(1, 1, 1, 2),
        hours: fc.constantFrom(0.25, 1, 2, 5, 20),
        priority: fc.constantFrom(0, 0, 0, 5, 10),
        trait: fc.constantFrom(null, null, null, null, "left-alone", "local"),
      }),
      { maxLength: 8 },
    ),
    waiting: fc.array(
      fc.record({
        queue: fc.constantFrom("search", "search", "news"),
        gpusPerPod: fc.constantFrom(1, 2, 4, 8),
        pods: fc.constantFrom(1, 1, 2),
        priority: fc.constantFrom(0, 0, 5),
      }),
      { minLength: 1, maxLength: 4 },
    ),
    nominal: fc.tuple(fc.nat(8), fc.nat(8)),
    policy: fc.tuple(fc.constantFrom(...policies), fc.constantFrom(...policies)),
    strict: fc.boolean(),
  })
  .map(({ nodes, jobs, waiting, nominal, policy, strict }) => {
    const names = Array.from({ length: nodes }, (_, i) => `node-${i}`);
    const free = new Map(names.map((name): [string, number] => [name, physicalGpus]));
    const running = jobs.flatMap(({ pods, trait, ...job }, i): readonly RunningJob[] => {
      const places: string[] = [];
      for (let pod = 0; pod < pods; pod++) {
        const name = names.find((one) => (free.get(one) ?? 0) >= job.gpusPerPod);
        if (name === undefined) break;
        free.set(name, (free.get(name) ?? 0) - job.gpusPerPod);
        places.push(name);
      }
      if (places.length === 0) return [];
      const annotations = {
        "kueue.x-k8s.io/workload": `job-j${i}`,
        ...(trait === "left-alone" ? { "karpenter.sh/do-not-disrupt": "true" } : {}),
      };
      return [{ ...job, name: `j${i}`, nodes: places, pod: { annotations, hasLocalStorage: trait === "local" } }];
    });
    const preemption = (reclaimWithinCohort: string) => ({
      preemption: { reclaimWithinCohort, withinClusterQueue: "Never", borrowWithinCohort: "Never" },
      queueingStrategy: strict ? ("StrictFIFO" as const) : ("BestEffortFIFO" as const),
    });
    const [ads, news] = nominal;
    return {
      nodes: Object.fromEntries(names.map((name) => [name, physicalGpus])),
      queues: [
        { name: "ads", nominal: ads },
        { name: "news", nominal: news, parts: preemption(policy[0]) },
        { name: "search", nominal: Math.max(0, nodes * physicalGpus - ads - news), parts: preemption(policy[1]) },
      ],
      running,
      waiting: waiting.map((job, i): WaitingJob => ({ ...job, name: `w${i}` })),
    };
  });
