import type { AdviceMoment } from "../moment.ts";
import { momentIndex } from "../momentIndex.ts";
import { disruptionBudget, jobBackoff } from "./eviction.ts";
import { gangWhole } from "./gangWhole.ts";
import type { Asked, Guard } from "./guard.ts";
import { known } from "./known.ts";
import { minRuntime } from "./minRuntime.ts";
import { placement } from "./placement.ts";
import { doNotDisrupt, localStorage, owner, staticPod } from "./podAndOwner.ts";
import { priority, reclaimPolicy } from "./priority.ts";

/** The names of the rules that may forbid taking pods off their nodes, in the order in which they are asked. */
export const guardNames = [
  "known",
  "owner",
  "static",
  "do-not-disrupt",
  "local-storage",
  "placement",
  "disruption-budget",
  "min-runtime",
  "job-backoff",
  "gang-whole",
  "priority",
  "reclaim-policy",
] as const;

export type GuardName = (typeof guardNames)[number];

/** What someone wants to do with pods, and for whom. */
export interface GuardQuestion {
  /** Indices into `Snapshot.pods`. */
  readonly pods: readonly number[];
  /**
   * `move`: they are placed again; `lose`: they give up what they hold; `release`: their team gives up what it does not use.
   */
  readonly how: "move" | "lose" | "release";
  /**
   * The request by which they leave. `eviction`, which is also meant where this is absent: each pod is evicted; `requeue`:
   * their queue object takes back the whole workload; `scale`: their owner is scaled or suspended. Budgets and backoff limits
   * count evictions alone.
   */
  readonly by?: "eviction" | "requeue" | "scale";
  /**
   * The waiting work that it serves; `null` if it serves none (an idle node, a team's own bill). `gpus`: how many more physical
   * GPUs the queue of this work would hold than now; absent: an unknown amount above 0.
   */
  readonly beneficiary: { readonly priority: number; readonly queue: number | null; readonly gpus?: number } | null;
}

/** An objection of one guard. */
export interface GuardVeto {
  readonly guard: GuardName;
  /** Index into `Snapshot.pods`. */
  readonly pod: number;
  /** A sentence with the names and numbers: `PodDisruptionBudget ads/serving allows 0 disruptions`. */
  readonly reason: string;
}

/** The answer: without any veto, the plan may be offered. */
export interface GuardAnswer {
  readonly checked: readonly GuardName[];
  readonly vetoes: readonly GuardVeto[];
}

const guards: Readonly<Record<GuardName, Guard>> = {
  known,
  owner,
  static: staticPod,
  "do-not-disrupt": doNotDisrupt,
  "local-storage": localStorage,
  placement,
  "disruption-budget": disruptionBudget,
  "min-runtime": minRuntime,
  "job-backoff": jobBackoff,
  "gang-whole": gangWhole,
  priority,
  "reclaim-policy": reclaimPolicy,
};

/** Asks every guard. Unknown facts count as objections. Pure. */
export function askGuards(moment: AdviceMoment, question: GuardQuestion): GuardAnswer {
  const { snapshot } = moment.analysis;
  const indexes = [...new Set(question.pods)];
  const pods = indexes.flatMap((index) => {
    const pod = snapshot.pods[index];
    return pod === undefined ? [] : [{ index, pod }];
  });
  const asked: Asked = {
    moment,
    how: question.how,
    by: question.by ?? "eviction",
    beneficiary: question.beneficiary,
    pods,
    lookup: momentIndex(moment.analysis),
  };
  const nobody: readonly GuardVeto[] = indexes
    .filter((index) => snapshot.pods[index] === undefined)
    .map((pod) => ({ guard: "known", pod, reason: "There is no such pod at this moment." }));
  const vetoes = guardNames.flatMap((guard) =>
    guards[guard](asked).map(({ pod, reason }): GuardVeto => ({ guard, pod, reason })),
  );
  return { checked: guardNames, vetoes: [...nobody, ...vetoes] };
}
