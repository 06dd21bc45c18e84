import type { Analysis } from "../../../exporter/analysis/analysis.ts";
import { gpuTolerance } from "../../../exporter/model/gpuTolerance.ts";
import type { Advice, Recommendation } from "../../../exporter/model/recommendation.ts";
import { alikeParts } from "../../../exporter/publish/explain/alikeParts.ts";
import { explain } from "../../../exporter/publish/explain/explain.ts";
import type { ReasonSettings } from "../../../exporter/publish/explain/reasons.ts";
import { workloadKey } from "../../../exporter/publish/explain/workloadFacts.ts";

/** States in which GPUs are allocated and do nothing for who holds them, although it is known why. */
export const wastedStates = ["stalled", "idle", "unavailable"] as const;
export type WastedState = (typeof wastedStates)[number];

/** GPUs of one workload in one such state. */
export interface WastedGpus {
  readonly state: WastedState;
  readonly team: string;
  readonly namespace: string;
  readonly kind: string;
  readonly name: string;
  readonly nodes: readonly string[];
  /** The GPU, or how many of a node they are. */
  readonly devices: readonly string[];
  /** Physical GPUs, and so GPU-hours in an hour. */
  readonly gpus: number;
  /** What they cost in an hour, by currency; GPUs without a price are not in it. */
  readonly costPerHour: ReadonlyMap<string, number>;
  /** Why they are in this state, as `fairlead explain workload` says it. */
  readonly reasons: readonly string[];
  /** Open advice about the workload, or about a node on which these GPUs are. */
  readonly advice: readonly Recommendation[];
}

/** Allocated GPUs that are stalled, idle or unavailable, by state and workload. Pure. */
export function wastedWork(analysis: Analysis, { recommendations }: Advice, settings: ReasonSettings): WastedGpus[] {
  const { prices, snapshot } = analysis;
  const open = recommendations.filter(({ state }) => state === "open");
  return wastedStates.flatMap((state) =>
    snapshot.workloads.flatMap((workload): readonly WastedGpus[] => {
      const { team, namespace, kind, name } = workload;
      const input = { analysis, settings, problems: [], accountedTime: null };
      const explained = explain("workload", workloadKey(workload), input);
      const parts = explained.ok ? explained.explanation.parts : [];
      const own = alikeParts(parts).filter(({ part }) => (part.states[state] ?? 0) > gpuTolerance);
      if (own.length === 0) return [];
      const nodes = [...new Set(own.map(({ part }) => part.node))];
      const costPerHour = new Map<string, number>();
      let gpus = 0;
      for (const { part } of own) {
        const amount = part.states[state] ?? 0;
        gpus += amount;
        const price = prices.byNode.get(part.node);
        if (price !== undefined)
          costPerHour.set(price.currency, (costPerHour.get(price.currency) ?? 0) + amount * price.perGpuHour);
      }
      const about = [`${kind} ${namespace}/${name}`, ...(state === "unavailable" ? nodes.map((n) => `Node ${n}`) : [])];
      return [
        {
          ...{ state, team, namespace, kind, name, nodes, gpus, costPerHour },
          devices: own.map(({ device }) => device),
          reasons: [...new Set(own.map(({ part }) => part.why))],
          advice: open.filter(({ targets }) => targets.some((target) => about.includes(target))),
        },
      ];
    }),
  );
}
