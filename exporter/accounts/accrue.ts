import { type AccountingEntries, noEntries } from "../analysis/accountingEntries.ts";
import type { Analysis } from "../analysis/analysis.ts";
import type { Snapshot } from "../join/snapshot.ts";
import { keepShape } from "../kernel/inRanges.ts";
import { type AccountedMoment, type AccountedMoments, createAccountedMoments } from "./accountedMoment.ts";
import { capacityTimeOf, noCapacityTime } from "./capacityTime.ts";
import { type StepEnergy, stepEnergy } from "./gpuEnergy.ts";
import { healthTimesOf } from "./healthTime.ts";
import { activeId } from "./holders.ts";
import { imbalancedNodes, physicalGpusByPool } from "./inventory.ts";
import { laterActivity, matchDevices } from "./matchDevices.ts";
import type { AccruedTime, NodeTime, PoolHour, Posting, StepInterval } from "./posting.ts";
import { partialGangTimes, queueTimesOf } from "./queueTime.ts";
import { gapOf, type HourPart, hourParts, type StepTime } from "./stepTime.ts";

/**
 * Accounts the GPU time between two cycles (design: double-entry GPU time): the holdings and states of the earlier moment,
 * with the mean activity of both where the same pod still holds the same device and is observed. The result does not depend on
 * what `moments` remembers. A step that is not covered yields an interval and nothing else.
 */
export function accrue(
  before: Analysis,
  after: Analysis,
  time: StepTime,
  moments: AccountedMoments = createAccountedMoments(),
): AccruedTime {
  const gap = gapOf(time, before.snapshot.coverage.objects && after.snapshot.coverage.objects);
  const interval: StepInterval = { from: time.from, to: time.to, seconds: Math.max(0, time.seconds), gap };
  const parts = gap === null ? hourParts(time) : [];
  if (parts.length === 0) return { interval, ...nothingAccrued };
  const { snapshot } = before;
  const moment = moments.of(before);
  const amounts = amountsOf(before, after.snapshot, moment, time.seconds);
  const postings = postingsOf(moment, amounts, parts, time.seconds);
  const queueTimes = queueTimesOf(before, parts);
  const capacity = capacityTimeOf(before, parts);
  return {
    interval,
    postings,
    poolHours: poolHours(snapshot, parts),
    nodeTimes: nodeTimes(moment, parts),
    imbalances: imbalancedNodes(snapshot, time.seconds),
    queueTimes,
    partialGangs: partialGangTimes(before, time.seconds),
    capacity,
    healthTimes: healthTimesOf(before, parts),
  };
}

const nothingAccrued: Omit<AccruedTime, "interval"> = {
  postings: [],
  poolHours: [],
  nodeTimes: [],
  imbalances: [],
  queueTimes: [],
  partialGangs: [],
  capacity: noCapacityTime,
  healthTimes: [],
};

function amountsOf(before: Analysis, later: Snapshot, moment: AccountedMoment, seconds: number): Amounts {
  const { snapshot: earlier, accountingEntries: entries, prices: found } = before;
  const matches = matchDevices(earlier, later);
  const energy = stepEnergy(earlier, later, matches, seconds);
  // Looked up once per node and not once per entry; 0 where nothing has a price, which adds nothing.
  const prices = Float64Array.from(entries.nodes, (node) => found.byNode.get(node)?.perGpuHour ?? 0);
  const amounts = new Amounts({ entries, moment, earlier, later, matches, energy, prices });
  entries.addTo(amounts);
  return amounts;
}

/** What amounts are made of. */
interface StepInput {
  readonly entries: AccountingEntries;
  readonly moment: Pick<AccountedMoment, "lines" | "lineOf" | "activeLineOf" | "underutilizedLineOf">;
  readonly earlier: Pick<Snapshot, "pods">;
  readonly later: Pick<Snapshot, "devices" | "pods">;
  readonly matches: Int32Array;
  readonly energy: StepEnergy;
  /** By index of the node. */
  readonly prices: Float64Array;
}

/** The amounts of each line of a moment over the step: mean GPUs, joules in total (NaN where unknown), and cost per hour. */
class Amounts {
  readonly gpus: Float64Array;
  readonly estimated: Float64Array;
  readonly joules: Float64Array;
  /** Cost per hour of each line; 0 for lines whose account has no currency. */
  readonly costPerHour: Float64Array;
  readonly #of: StepInput;
  // The active and the underutilized part of a holding follow each other.
  #lastDevice = -1;
  #lastPod = -1;
  #lastActivity: number | null = null;

  constructor(input: StepInput) {
    const { length } = input.moment.lines;
    this.gpus = new Float64Array(length);
    this.estimated = new Float64Array(length);
    this.joules = new Float64Array(length).fill(Number.NaN);
    this.costPerHour = new Float64Array(length);
    this.#of = input;
  }

  addRange(from: number, to: number): void {
    for (let i = from; i < to; i++) this.#addEntry(i);
  }

  #addEntry(i: number): void {
    const { gpus, device: devices, pod: pods, state, node, estimated } = this.#of.entries;
    const { lineOf, activeLineOf, underutilizedLineOf } = this.#of.moment;
    const amount = gpus[i] ?? 0;
    const device = devices[i] ?? -1;
    const pod = pods[i] ?? -1;
    const isEstimated = estimated[i] === 1;
    const joules = device < 0 ? this.#joulesOfPart(i) : (this.#of.energy.ofDevice[device] ?? Number.NaN);
    const price = this.#of.prices[node[i] ?? 0] ?? 0;
    const activeLine = activeLineOf[i] ?? -1;
    if (activeLine < 0 || device < 0 || pod < 0) {
      this.#add(lineOf[i] ?? 0, amount, isEstimated, joules, price);
      return;
    }
    const wasActive = state[i] === activeId ? 1 : 0;
    const active = amount * (wasActive + (this.#activityLater(device, pod) ?? wasActive)) * 0.5;
    this.#add(activeLine, active, isEstimated, joules, price);
    this.#add(underutilizedLineOf[i] ?? 0, amount - active, isEstimated, joules, price);
  }

  /**
   * The activity of a holding at the later moment; `null` if only the earlier activity is known. The mean of a holding, share x
   * (a + b) / 2, is counted piece by piece: half of what was active stays active, and half of every piece is as active as the
   * later moment.
   */
  #activityLater(device: number, pod: number): number | null {
    if (device !== this.#lastDevice || pod !== this.#lastPod) {
      const holder = this.#of.earlier.pods[pod];
      const match = this.#of.later.devices[this.#of.matches[device] ?? -1];
      this.#lastActivity =
        holder === undefined || match === undefined ? null : laterActivity(holder, match, this.#of.later);
      this.#lastDevice = device;
      this.#lastPod = pod;
    }
    return this.#lastActivity;
  }

  #joulesOfPart(index: number): number {
    const { nodes, node, pools, pool } = this.#of.entries;
    return this.#of.energy.ofUnpartitioned(nodes[node[index] ?? 0] ?? "", pools[pool[index] ?? 0] ?? "");
  }

  #add(line: number, amount: number, isEstimated: boolean, joulesPerGpu: number, price: number): void {
    if (!(amount > 0)) return;
    this.gpus[line] = (this.gpus[line] ?? 0) + amount;
    if (isEstimated) this.estimated[line] = (this.estimated[line] ?? 0) + amount;
    this.costPerHour[line] = (this.costPerHour[line] ?? 0) + amount * price;
    if (Number.isNaN(joulesPerGpu)) return;
    const sum = this.joules[line] ?? Number.NaN;
    this.joules[line] = (Number.isNaN(sum) ? 0 : sum) + joulesPerGpu * amount;
  }
}

const none = new Int32Array();
keepShape(
  new Amounts({
    entries: noEntries,
    moment: { lines: [], lineOf: none, activeLineOf: none, underutilizedLineOf: none },
    earlier: { pods: [] },
    later: { devices: [], pods: [] },
    matches: none,
    energy: { ofDevice: new Float64Array(), ofUnpartitioned: () => Number.NaN },
    prices: new Float64Array(),
  }),
);

const secondsPerHour = 3600;

function postingsOf(
  { lines }: AccountedMoment,
  { gpus, estimated, joules, costPerHour }: Amounts,
  parts: readonly HourPart[],
  seconds: number,
): Posting[] {
  const postings: Posting[] = [];
  for (const part of parts) {
    for (let i = 0; i < lines.length; i++) {
      const line = lines[i];
      const gpuSeconds = (gpus[i] ?? 0) * part.seconds;
      if (line === undefined || !(gpuSeconds > 0)) continue;
      const energy = joules[i] ?? Number.NaN;
      postings.push({
        hour: part.hour,
        account: line.account,
        workload: line.workload,
        gpuSeconds,
        estimatedGpuSeconds: (estimated[i] ?? 0) * part.seconds,
        energyJoules: Number.isNaN(energy) ? null : energy * (part.seconds / seconds),
        cost: line.account.currency === null ? null : ((costPerHour[i] ?? 0) * part.seconds) / secondsPerHour,
      });
    }
  }
  return postings;
}

function poolHours(snapshot: Snapshot, parts: readonly HourPart[]): PoolHour[] {
  const pools = [...physicalGpusByPool(snapshot)];
  return parts.flatMap(({ hour, seconds }) =>
    pools.map(([pool, gpus]) => ({ hour, pool, physicalGpuSeconds: gpus * seconds })),
  );
}

function nodeTimes({ nodeCounts }: AccountedMoment, parts: readonly HourPart[]): NodeTime[] {
  return parts.flatMap(({ hour, seconds }) =>
    nodeCounts.map(({ nodes, costPerHour, ...count }) => ({
      hour,
      ...count,
      nodeSeconds: nodes * seconds,
      cost: costPerHour === null ? null : (costPerHour * seconds) / secondsPerHour,
    })),
  );
}
