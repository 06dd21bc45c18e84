import type { AdviceEffect, EffectMeasures } from "../../model/recommendation.ts";
import { gpus } from "../terminal/columns.ts";
import { money } from "../terminal/costText.ts";

/** One number of the cluster before a plan, and after it under each placement rule, as text. */
interface EffectRow {
  readonly name: string;
  readonly before: string;
  readonly mostAllocated: string;
  readonly leastAllocated: string;
}

interface Measure {
  readonly name: string;
  readonly of: (measures: EffectMeasures) => string;
}

const fixed: readonly Measure[] = [
  { name: "GPUs that wait", of: ({ pendingGpus }) => gpus(pendingGpus) },
  { name: "GPUs blocked by fragmentation", of: ({ blockedGpus }) => gpus(blockedGpus) },
  { name: "free GPUs", of: ({ freeGpus }) => gpus(freeGpus) },
  { name: "1-GPU pods that fit", of: ({ placeablePods }) => String(placeablePods["1"]) },
  { name: "2-GPU pods that fit", of: ({ placeablePods }) => String(placeablePods["2"]) },
  { name: "4-GPU pods that fit", of: ({ placeablePods }) => String(placeablePods["4"]) },
  { name: "8-GPU pods that fit", of: ({ placeablePods }) => String(placeablePods["8"]) },
  { name: "whole free nodes", of: ({ wholeFreeNodes }) => String(wholeFreeNodes) },
  { name: "expected fragmentation, GPUs", of: ({ expectedFragmentation }) => gpus(expectedFragmentation) },
  { name: "GPUs idle", of: ({ idleGpus }) => gpus(idleGpus) },
  { name: "GPUs allocated and not seen", of: ({ unobservedGpus }) => gpus(unobservedGpus) },
  { name: "idle node-hours of the last 7 days", of: ({ idleNodeHoursPerWeek }) => idleNodeHoursPerWeek.toFixed(0) },
];

/** The numbers that a plan changes; unchanged ones are left out. */
export function effectRows({ before, after }: AdviceEffect): readonly EffectRow[] {
  const { mostAllocated, leastAllocated } = after;
  const all = [before, mostAllocated, leastAllocated];
  const measures = [...fixed, ...deviationMeasures(all), ...costMeasures(all)];
  return measures
    .map(({ name, of }) => ({
      name,
      before: of(before),
      mostAllocated: of(mostAllocated),
      leastAllocated: of(leastAllocated),
    }))
    .filter((row) => row.mostAllocated !== row.before || row.leastAllocated !== row.before);
}

function deviationMeasures(all: readonly EffectMeasures[]): readonly Measure[] {
  const queues = new Map(
    all.flatMap(({ deviations }) => deviations).map(({ queue, domain }) => [`${queue}\0${domain}`, { queue, domain }]),
  );
  return [...queues.values()].map(({ queue, domain }) => ({
    name: `GPUs above entitlement: ${queue} (${domain})`,
    of: ({ deviations }) => {
      const found = deviations.find((one) => one.queue === queue && one.domain === domain);
      return found === undefined ? "–" : signed(found.gpus);
    },
  }));
}

const signed = (amount: number): string => `${amount > 0.05 ? "+" : ""}${gpus(amount)}`;

function costMeasures(all: readonly EffectMeasures[]): readonly Measure[] {
  const currencies = new Set(all.flatMap(({ costPerWeek }) => costPerWeek.map(({ currency }) => currency)));
  return [...currencies].map((currency) => ({
    name: "cost of these nodes a week",
    of: ({ costPerWeek }) => {
      const found = costPerWeek.find((one) => one.currency === currency);
      return found === undefined ? "–" : money(found.amount, currency);
    },
  }));
}
