import { gpuModels } from "../gpuModels.ts";
import type { Truth } from "../truth.ts";
import type { TruthDemand } from "./monthTruth.ts";
import { quantile } from "./waitLog.ts";

/** Demand for the GPUs of each model, by hours. */
export interface DemandLog {
  /** What is so now is so for `seconds`. */
  look(truth: Truth, seconds: number): void;
  demand(): readonly TruthDemand[];
}

interface Hour {
  seconds: number;
  demand: number;
  capacity: number;
}

const hourSeconds = 3600;
const weekSeconds = 7 * 24 * hourSeconds;
/** 1970-01-05, the first Monday. */
const firstMonday = 4 * 24 * hourSeconds;

export function createDemandLog(): DemandLog {
  const models = new Map<string, Map<number, Hour>>();
  return {
    look(truth, seconds) {
      const hour = Math.floor(truth.at / hourSeconds) * hourSeconds;
      for (const [model, { allocated, waiting, capacity }] of demandNow(truth)) {
        const hours = models.get(model) ?? new Map<number, Hour>();
        models.set(model, hours);
        const sums = hours.get(hour) ?? { seconds: 0, demand: 0, capacity: 0 };
        hours.set(hour, sums);
        sums.seconds += seconds;
        sums.demand += (allocated + waiting) * seconds;
        sums.capacity += capacity * seconds;
      }
    },
    demand: () => [...models].map(([gpuModel, hours]) => summary(gpuModel, hours)),
  };
}

interface DemandNow {
  allocated: number;
  waiting: number;
  capacity: number;
}

/** Of each model: held; asked for by work that waits and names it; and of usable nodes, with what is allocated on others. */
function demandNow({ physicalGpus, nodes, works }: Truth): ReadonlyMap<string, DemandNow> {
  const found = new Map<string, DemandNow>();
  const of = (model: string): DemandNow => {
    const known = found.get(model) ?? { allocated: 0, waiting: 0, capacity: 0 };
    found.set(model, known);
    return known;
  };
  const usable = new Set(nodes.flatMap(({ name, ready, schedulable }) => (ready && schedulable ? [name] : [])));
  for (const { gpuModel, node, holders } of physicalGpus) {
    const allocated = holders.reduce((sum, { share }) => sum + share, 0);
    of(gpuModel).allocated += allocated;
    of(gpuModel).capacity += usable.has(node) ? 1 : allocated;
  }
  for (const { models: wanted, waitingGpus } of works) {
    const [model] = wanted;
    if (model !== undefined) of(gpuModels[model].name).waiting += waitingGpus;
  }
  return found;
}

function summary(gpuModel: string, hours: ReadonlyMap<number, Hour>): TruthDemand {
  const all = [...hours].map(([from, { demand, seconds }]) => ({ from, demand: demand / seconds }));
  const p95 = (some: readonly { readonly demand: number }[]): number =>
    quantile(
      some.map(({ demand }) => demand).sort((a, b) => a - b),
      0.95,
    );
  const seconds = [...hours.values()].reduce((sum, hour) => sum + hour.seconds, 0);
  const total = (amount: "demand" | "capacity"): number =>
    [...hours.values()].reduce((sum, hour) => sum + hour[amount], 0) / seconds;
  const weeks = Map.groupBy(
    all,
    ({ from }) => Math.floor((from - firstMonday) / weekSeconds) * weekSeconds + firstMonday,
  );
  return {
    gpuModel,
    p95DemandGpus: p95(all),
    meanDemandGpus: total("demand"),
    meanCapacityGpus: total("capacity"),
    weeks: [...weeks].flatMap(([from, own]) =>
      own.length * hourSeconds < weekSeconds ? [] : [{ from, p95DemandGpus: p95(own) }],
    ),
  };
}
