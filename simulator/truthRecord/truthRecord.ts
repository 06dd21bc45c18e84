import { nodeLabels } from "../../exporter/model/wellKnown.ts";
import type { NodeSpec, Scenario } from "../scenario.ts";
import type { Truth } from "../truth.ts";
import { createDemandLog } from "./demandLog.ts";
import { createJudge } from "./judge.ts";
import {
  type MonthTruth,
  type TruthAmount,
  type TruthLevel,
  type TruthNodeState,
  type TruthState,
  truthLevels,
} from "./monthTruth.ts";
import type { Price } from "./prices.ts";
import { createWaitLog } from "./waitLog.ts";

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

/** An empty book for [from, to). */
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
