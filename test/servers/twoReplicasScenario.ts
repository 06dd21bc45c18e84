import { alertNames } from "../../alerts/alertList.ts";
import { alertsSchema } from "../../alerts/thresholds.ts";
import { noQueueing } from "../../simulator/queues/spec.ts";
import type { Scenario } from "../../simulator/scenario.ts";
import { adviceScenario, coming, oneCohort, wholeNodes } from "../../simulator/scenarios/advice/parts.ts";
import { workloadOf } from "../../simulator/scenarios/parts.ts";

/** Seconds between two cycles of Fairlead, two scrapes, and two evaluations of the rules: the same, as users have them. */
export const step = 2;
/** Name that the two replicas give the cluster, and the one that is never disturbed. */
export const [disturbed, undisturbed] = ["harbor", "reference"] as const;

/** GPUs of each pool, as the nodes have them. */
export const physicalGpus: ReadonlyMap<string, number> = new Map([
  ["H100-80GB-HBM3", 32],
  ["A100-SXM4-80GB", 16],
]);

/** Work that comes and goes within seconds, in queues and without, and uses what it holds. */
export function busyScenario(): Scenario {
  const busy = { kind: "constant", level: 0.9 } as const;
  const pair = (team: string) =>
    workloadOf("PyTorchJob", team, 2, { kind: "physicalGpus", count: 4 }, busy, {
      queue: team,
      gang: true,
      models: ["H100"],
    });
  const single = workloadOf("Job", "vision", 1, { kind: "physicalGpus", count: 2 }, busy, { models: ["A100"] });
  const short = { maxWaiting: 2, runSeconds: [30, 90] } as const;
  return adviceScenario("replicas", {
    nodes: [
      ...wholeNodes("h100", 4, "H100", { instanceType: "p5.48xlarge" }),
      ...wholeNodes("a100", 2, "A100", { instanceType: "p4de.24xlarge" }),
    ],
    namespaces: ["ads", "search", "vision"].map((name) => ({ name, team: name })),
    queueing: {
      ...noQueueing,
      kueue: oneCohort("h100", "H100", [
        { name: "ads", nominal: 16, reclaimWithinCohort: "Never" },
        { name: "search", nominal: 16, reclaimWithinCohort: "Never" },
      ]),
    },
    habits: [
      coming("ctr", pair("ads"), { initial: 1, everySeconds: 30, ...short }),
      coming("ranker", pair("search"), { initial: 1, everySeconds: 30, ...short }),
      coming("detector", single, { initial: 2, everySeconds: 25, ...short }),
    ],
    warmupSeconds: 600,
    // What a pod does is on the page as soon as it runs: who looks a moment later sees the same.
    collectionInterval: 2,
    stepSeconds: 2,
  });
}

/** Every alert after two evaluations: what would be seen for minutes is seen here for seconds. */
export const alertSettings = alertsSchema.parse({
  interval: `${step}s`,
  alerts: {
    ...Object.fromEntries(alertNames.map((name) => [name, { for: `${2 * step}s`, keepFiringFor: "0s" }])),
    GpuExporterStale: { for: `${2 * step}s`, keepFiringFor: "0s", ageAboveSeconds: 4 * step },
    GpuExporterReplicaMissing: { for: `${2 * step}s`, keepFiringFor: "0s", ageAboveSeconds: 4 * step },
  },
});

/** A replica's configuration, but for how it reaches the API, which counts as not known after so long without an answer. */
export function replicaSettings(cluster: string, ledger: string, interval = step, apiMaxAge = 15 * step) {
  return {
    cluster,
    interval,
    replicas: cluster === disturbed ? 2 : 1,
    kubernetes: { maxAgeSeconds: apiMaxAge, silenceSeconds: apiMaxAge },
    teams: [{ from: "namespace-label", key: "team" }],
    prices: { staleDays: 3650 },
    ledger: { path: ledger },
  };
}
