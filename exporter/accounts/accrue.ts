import type { AccountingEntry } from "../analysis/accountingEntry.ts";
import type { Analysis } from "../analysis/analysis.ts";
import type { Snapshot } from "../join/snapshot.ts";
import { type AccountedMoment, type AccountedMoments, createAccountedMoments } from "./accountedMoment.ts";
import { capacityTimeOf, noCapacityTime } from "./capacityTime.ts";
import { type StepEnergy, stepEnergy } from "./gpuEnergy.ts";
import { healthTimesOf } from "./healthTime.ts";
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

/** The amounts of each line of a moment over the step: mean GPUs, joules in total (NaN where unknown), and cost per hour. */
interface Amounts {
  readonly gpus: Float64Array;
  readonly estimated: Float64Array;
  readonly joules: Float64Array;
  /** Cost per hour of each line; 0 for lines whose account has no currency. */
  readonly costPerHour: Float64Array;
}

function amountsOf(before: Analysis, later: Snapshot, moment: AccountedMoment, seconds: number): Amounts {
  const { snapshot, accountingEntries } = before;
  const { lines, lineOf, activeLineOf, underutilizedLineOf } = moment;
  const gpus = new Float64Array(lines.length);
  const estimated = new Float64Array(lines.length);
  const joules = new Float64Array(lines.length).fill(Number.NaN);
  const costPerHour = new Float64Array(lines.length);
  const matches = matchDevices(snapshot, later);
  const energy = stepEnergy(snapshot, later, matches, seconds);
  const prices = accountedPrices(before);

  const add = (line: number, amount: number, isEstimated: boolean, joulesPerGpu: number, price: number): void => {
    if (!(amount > 0)) return;
    gpus[line] = (gpus[line] ?? 0) + amount;
    if (isEstimated) estimated[line] = (estimated[line] ?? 0) + amount;
    costPerHour[line] = (costPerHour[line] ?? 0) + amount * price;
    if (Number.isNaN(joulesPerGpu)) return;
    const sum = joules[line] ?? Number.NaN;
    joules[line] = (Number.isNaN(sum) ? 0 : sum) + joulesPerGpu * amount;
  };

  let lastDevice = -1;
  let lastPod = -1;
  let lastActivity: number | null = null;
  const addAccountingEntry = (accountingEntry: AccountingEntry, i: number): void => {
    const { device, pod, estimated: isEstimated } = accountingEntry;
    const perGpu = joulesPerGpu(energy, accountingEntry);
    const price = priceOf(prices, accountingEntry);
    const activeLine = activeLineOf[i] ?? -1;
    if (activeLine < 0 || device === null || pod === null) {
      add(lineOf[i] ?? 0, accountingEntry.gpus, isEstimated, perGpu, price);
      return;
    }
    if (device !== lastDevice || pod !== lastPod) {
      lastActivity = activityLater(snapshot, later, matches, device, pod);
      lastDevice = device;
      lastPod = pod;
    }
    const wasActive = accountingEntry.state === "active" ? 1 : 0;
    const active = accountingEntry.gpus * (wasActive + (lastActivity ?? wasActive)) * 0.5;
    add(activeLine, active, isEstimated, perGpu, price);
    add(underutilizedLineOf[i] ?? 0, accountingEntry.gpus - active, isEstimated, perGpu, price);
  };
  for (let i = 0; i < accountingEntries.length; i++) {
    const accountingEntry = accountingEntries[i];
    if (accountingEntry !== undefined) addAccountingEntry(accountingEntry, i);
  }
  return { gpus, estimated, joules, costPerHour };
}

/**
 * The activity of a holding at the later moment; `null` if only the earlier activity is known. The mean of a holding, share x
 * (a + b) / 2, is counted piece by piece: half of what was active stays active, and half of every piece is as active as the
 * later moment.
 */
function activityLater(
  earlier: Snapshot,
  later: Snapshot,
  matches: Int32Array,
  device: number,
  pod: number,
): number | null {
  const holder = earlier.pods[pod];
  const match = later.devices[matches[device] ?? -1];
  return holder === undefined || match === undefined ? null : laterActivity(holder, match, later);
}

function joulesPerGpu(energy: StepEnergy, { device, node, pool }: AccountingEntry): number {
  return device === null ? energy.ofUnpartitioned(node, pool) : (energy.ofDevice[device] ?? Number.NaN);
}

function priceOf(prices: AccountedPrices, { device, node }: AccountingEntry): number {
  return device === null ? prices.ofNode(node) : (prices.ofDevice[device] ?? 0);
}

/** What a physical GPU costs per hour at a moment; 0 where nothing has a price, which adds nothing. */
interface AccountedPrices {
  /** Price of the GPUs of each device, by index into `Snapshot.devices`. */
  readonly ofDevice: Float64Array;
  /** Price for parts of GPUs that are no device, by the name of their node. */
  ofNode(node: string): number;
}

/** The prices of a moment, looked up once per node and not once per accounting entry. */
function accountedPrices({ snapshot, prices }: Pick<Analysis, "snapshot" | "prices">): AccountedPrices {
  const { byNode } = prices;
  const ofDevice = new Float64Array(snapshot.devices.length);
  const ofNode = (node: string): number => byNode.get(node)?.perGpuHour ?? 0;
  if (byNode.size === 0) return { ofDevice, ofNode };
  for (const { name, devices } of snapshot.nodes) {
    const price = ofNode(name);
    if (price > 0) for (const index of devices) ofDevice[index] = price;
  }
  return { ofDevice, ofNode };
}

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
