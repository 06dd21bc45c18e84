import type { AccountingEntry } from "../../../exporter/analysis/accountingEntry.ts";
import type { Analysis } from "../../../exporter/analysis/analysis.ts";
import { addHourlyCost } from "../../../exporter/analysis/prices/addHourlyCost.ts";
import type { WorkloadView } from "../../../exporter/join/snapshot.ts";
import type { AdviceAct } from "../../../exporter/model/adviceAct.ts";
import type { Advice } from "../../../exporter/model/recommendation.ts";
import { alikeParts } from "../../../exporter/publish/explain/alikeParts.ts";
import { explain } from "../../../exporter/publish/explain/explain.ts";
import type { ReasonSettings } from "../../../exporter/publish/explain/reasons.ts";
import { workloadKey } from "../../../exporter/publish/explain/workloadFacts.ts";

/** States in which allocated GPUs do nothing for their holder. */
const wastedStates = ["stalled", "idle", "unavailable"] as const;

const acts: readonly AdviceAct[] = ["do", "ask", "watch"];

/** GPUs of one workload in one such state. */
export interface WastedGpus {
  readonly state: (typeof wastedStates)[number];
  /** The reason why it is idle, or the cause for which its GPUs cannot be used; empty if it is stalled. */
  readonly reasons: readonly string[];
  readonly team: string;
  /** `NAMESPACE/NAME`. */
  readonly workload: string;
  /** Physical GPUs, which are as many GPU-hours in an hour. */
  readonly gpus: number;
  /** What they cost in an hour, by currency; GPUs without a price are not in it. */
  readonly costPerHour: ReadonlyMap<string, number>;
  /** Where they are and why they are in this state, as `fairlead explain workload` says it. */
  readonly explained: readonly string[];
  /** Titles of open advice about the workload, or about a node with GPUs of it that cannot be used; the most urgent first. */
  readonly advice: readonly string[];
}

/** The wasted part of the allocated GPUs. */
export interface WastedWork {
  /** Physical GPUs. */
  readonly allocated: number;
  readonly wasted: readonly WastedGpus[];
}

/** Allocated GPUs that are stalled, idle or unavailable, by state and workload. Pure. */
export function wastedWork(analysis: Analysis, advice: Advice, settings: ReasonSettings): WastedWork {
  const { accountingEntries, snapshot } = analysis;
  const wasted = wastedStates.flatMap((state) => {
    const inState = accountingEntries.inState(state).filter(({ pod }) => pod !== null);
    const byWorkload = Map.groupBy(inState, ({ pod }) => snapshot.pods[pod ?? -1]?.workload ?? -1);
    return [...byWorkload].flatMap(([index, entries]): readonly WastedGpus[] => {
      const workload = snapshot.workloads[index];
      if (workload === undefined) return [];
      const { team, namespace, name, kind } = workload;
      const nodes = state === "unavailable" ? entries.map(({ node }) => `Node ${node}`) : [];
      const about = new Set([`${kind} ${namespace}/${name}`, ...nodes]);
      const open = advice.recommendations.filter((one) => one.state === "open");
      const own = open.filter(({ targets }) => targets.some((target) => about.has(target)));
      return [
        {
          state,
          reasons: [...new Set(entries.flatMap((entry) => reasonOf(entry) ?? []))],
          team,
          workload: `${namespace}/${name}`,
          gpus: entries.reduce((sum, { gpus }) => sum + gpus, 0),
          costPerHour: costPerHour(analysis, entries),
          explained: explainedState(analysis, workload, state, settings),
          advice: own.toSorted((a, b) => acts.indexOf(a.act) - acts.indexOf(b.act)).map(({ title }) => title),
        },
      ];
    });
  });
  return { allocated: analysis.teams.reduce((sum, { allocated }) => sum + allocated, 0), wasted };
}

const reasonOf = ({ state, idleReason, cause }: AccountingEntry): string | undefined =>
  state === "idle" ? (idleReason ?? "no-activity") : cause;

function costPerHour({ prices }: Analysis, entries: readonly AccountingEntry[]): ReadonlyMap<string, number> {
  const costs = new Map<string, number>();
  for (const { node, gpus } of entries) {
    const price = prices.byNode.get(node);
    if (price !== undefined) addHourlyCost(costs, price, gpus);
  }
  return costs;
}

function explainedState(
  analysis: Analysis,
  workload: WorkloadView,
  state: WastedGpus["state"],
  settings: ReasonSettings,
): readonly string[] {
  const answer = explain("workload", workloadKey(workload), { analysis, settings, problems: [], accountedTime: null });
  const parts = answer.ok ? answer.explanation.parts.filter(({ states }) => (states[state] ?? 0) > 0) : [];
  const sentences = alikeParts(parts).map(({ count, device, part: { node, why } }) =>
    count === 1 ? `${device} of ${node}: ${why}` : `on ${node}: ${why}`,
  );
  return [...new Set(sentences)];
}
