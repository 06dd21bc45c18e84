import type { Advice, EffectMeasures, Recommendation } from "../../exporter/model/recommendation.ts";
import { reclaimAdvice } from "./someAdvice.ts";

/** Advice in which everything that a cluster or a user may have named is called the same. */
export function hostileAdvice(name: string): Advice {
  const deviations: EffectMeasures["deviations"] = [{ queue: name, domain: name, gpus: 1 }];
  const costPerWeek = [{ currency: name, amount: 5 }];
  const { before } = reclaimAdvice.effect;
  const after = { ...before, pendingGpus: 0, deviations: [], costPerWeek: [] };
  const one: Recommendation = {
    ...reclaimAdvice,
    actReasons: [name],
    questions: [{ to: name, about: name, question: name, facts: [name] }],
    title: name,
    reason: name,
    fromTeam: name,
    forTeam: name,
    queue: name,
    pool: name,
    evidence: [{ name, value: name }],
    targets: [name],
    beneficiary: { kind: "queue", name },
    steps: reclaimAdvice.steps.map((step) => ({
      ...step,
      title: name,
      precondition: name,
      command: `kubectl get ${name}`,
      dryRun: null,
      waitFor: name,
      request: { ...step.request, path: name, body: { [`key ${name}`]: [name] } },
    })),
    effect: {
      ...reclaimAdvice.effect,
      before: { ...before, deviations, costPerWeek },
      after: { mostAllocated: after, leastAllocated: after },
      starts: [name],
      savingPerWeek: costPerWeek,
    },
    cost: { ...reclaimAdvice.cost, teams: [name] },
    confidence: { level: "low", reasons: [name] },
    guards: [name],
    blockedAlternatives: [name],
    alerts: [{ alertname: name, fingerprint: name, status: "firing", startsAt: 0 }],
  };
  return {
    recommendations: [one, { ...one, id: "r-closed", state: "dismissed", closedAt: 1, closedBecause: name }],
    withheld: [{ kind: "reclaim", subject: name, why: "guard", reason: name }],
    reducibleFragmentation: new Map([[name, 1]]),
  };
}
