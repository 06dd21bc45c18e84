import { nodeLabels } from "../../../exporter/model/wellKnown.ts";
import { gpuModels } from "../../../simulator/gpuModels.ts";
import type { NodeSpec, Scenario } from "../../../simulator/scenario.ts";
import type { Truth } from "../../../simulator/truth.ts";
import { createWaitLog, quantile } from "../../../simulator/truthRecord/waitLog.ts";
import { createJudge } from "./judge.ts";
import {
  type MonthTruth,
  type TruthAmount,
  type TruthDemand,
  type TruthLevel,
  type TruthNodeState,
  type TruthState,
  truthLevels,
} from "./monthTruth.ts";
import type { Price } from "./prices.ts";

/** Adds up what really happens in a simulated cluster, from nothing but the simulator's own words and its own prices. */
export interface TruthRecord {
  /** What is so now is so for `seconds`. */
  look(truth: Truth, seconds: number): void;
  /** The last look, whose time is not counted: what ended by then. */
  close(truth: Truth): MonthTruth;
}

export interface TruthRecordOptions {
  readonly scenario: Scenario;
  readonly prices: readonly Price[];
  /** Nodes on which this label is `true` are kept ready on purpose. */
  readonly warmPoolLabel: string;
  /** Seconds since the epoch. */
  readonly from: number;
  readonly to: number;
}

interface Sum {
  gpuHours: number;
  cost: number;
}

const hour = 3600;

/** An empty record for [from, to). */
export function createTruthRecord({ scenario, prices, warmPoolLabel, from, to }: TruthRecordOptions): TruthRecord {
  const judge = createJudge(scenario, warmPoolLabel);
  const waits = createWaitLog(from, to);
  const demand = createDemandLog();
  const rates = new Map(scenario.nodes.map((node) => [node.name, rateOf(node, prices)]));
  const models = new Map<string, string>();
  /** By team (empty: nobody) and state. */
  const gpuTime = new Map<string, Map<TruthState, Sum>>();
  const nodeTime = new Map<string, Map<TruthNodeState, { nodeHours: number; cost: number }>>();
  let evictionsBefore: ReadonlyMap<string, number> | null = null;

  function addParts(truth: Truth, seconds: number): void {
    const { parts, nodes } = judge.look(truth);
    for (const { node, team, isAllocated, state, gpus } of parts) {
      const key = isAllocated ? (team ?? "unassigned") : "";
      const states = gpuTime.get(key) ?? new Map<TruthState, Sum>();
      gpuTime.set(key, states);
      const sum = states.get(state) ?? { gpuHours: 0, cost: 0 };
      states.set(state, sum);
      sum.gpuHours += (gpus * seconds) / hour;
      sum.cost += (gpus * seconds * (rates.get(node)?.perGpuHour ?? 0)) / hour;
    }
    for (const { name, gpuModels } of truth.nodes) models.set(name, gpuModels[0] ?? "");
    for (const [node, state] of nodes) {
      const model = models.get(node) ?? "";
      const states = nodeTime.get(model) ?? new Map<TruthNodeState, { nodeHours: number; cost: number }>();
      nodeTime.set(model, states);
      const sum = states.get(state) ?? { nodeHours: 0, cost: 0 };
      states.set(state, sum);
      sum.nodeHours += seconds / hour;
      sum.cost += (seconds * (rates.get(node)?.perNodeHour ?? 0)) / hour;
    }
  }

  return {
    look(truth, seconds) {
      evictionsBefore ??= evictionsOf(truth);
      addParts(truth, seconds);
      waits.look(truth);
      demand.look(truth, seconds);
    },
    close(truth) {
      waits.look(truth);
      return {
        from,
        to,
        waterfall: waterfallOf(gpuTime),
        teams: teamsOf(gpuTime),
        nodeTime: [...nodeTime].flatMap(([gpuModel, states]) =>
          [...states].map(([state, sum]) => ({ gpuModel, state, ...sum })),
        ),
        waits: { byQueue: waits.byQueue(), bySize: waits.bySize() },
        evictions: [...evictionsOf(truth)].map(([queue, evictions]) => ({
          queue,
          evictions: evictions - (evictionsBefore?.get(queue) ?? 0),
        })),
        demand: demand.demand(),
      };
    },
  };
}

/** Demand for the GPUs of each model, by hours. */
interface DemandLog {
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

function createDemandLog(): DemandLog {
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

interface Rate {
  readonly perNodeHour: number;
  readonly perGpuHour: number;
}

function rateOf({ instanceType, labels, physicalGpus }: NodeSpec, prices: readonly Price[]): Rate {
  const capacityType = labels[nodeLabels.karpenterCapacityType];
  const price = prices.find((each) => each.instanceType === instanceType && each.capacityType === capacityType);
  const perNodeHour = price?.perNodeHour ?? 0;
  return { perNodeHour, perGpuHour: perNodeHour / physicalGpus.length };
}

const evictionsOf = ({ queues }: Truth): ReadonlyMap<string, number> =>
  new Map(queues.map(({ queue, evictions }) => [queue, evictions]));

type GpuTime = ReadonlyMap<string, ReadonlyMap<TruthState, TruthAmount>>;

function waterfallOf(gpuTime: GpuTime): readonly TruthLevel[] {
  const amount = (state: TruthState, isAllocated: boolean): TruthAmount =>
    total([...gpuTime].flatMap(([team, states]) => ((team !== "") === isAllocated ? (states.get(state) ?? []) : [])));
  const levels: TruthLevel[] = [];
  let below = amount("active", true);
  for (const { level, drops } of [...truthLevels].reverse()) {
    const lost = drops.map(([state, isAllocated]) => ({ state, isAllocated, ...amount(state, isAllocated) }));
    below = total([below, ...lost]);
    levels.unshift({ level, ...below, drops: lost.filter(({ gpuHours }) => gpuHours > 0) });
  }
  return levels;
}

function teamsOf(gpuTime: GpuTime): MonthTruth["teams"] {
  return [...gpuTime].flatMap(([team, states]) =>
    team === "" ? [] : [{ team, ...total([...states.values()]), states: Object.fromEntries(states) }],
  );
}

function total(amounts: readonly TruthAmount[]): TruthAmount {
  return amounts.reduce((sum, { gpuHours, cost }) => ({ gpuHours: sum.gpuHours + gpuHours, cost: sum.cost + cost }), {
    gpuHours: 0,
    cost: 0,
  });
}
