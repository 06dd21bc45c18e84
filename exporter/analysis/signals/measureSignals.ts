import type { Config } from "../../config/schema.ts";
import type { Device, Snapshot } from "../../join/snapshot.ts";
import { type PowerRange, powerRangeOf } from "../../join/stall/gpuPower.ts";
import { stallUnknownBecause } from "../../join/stall/stallUnknown.ts";
import { inRanges, keepShape } from "../../kernel/inRanges.ts";
import {
  noneReported,
  noneUnknown,
  type StallUnknownReason,
  type TelemetrySignal,
} from "../../model/telemetrySignals.ts";
import { addWork, mergeWork, noWork, type WorkSum } from "./workSums.ts";

/** The settings that these answers depend on. */
export interface SignalSettings {
  /** Idle and full power by model, which has precedence over Fairlead's own table. */
  readonly power: Config["gpu"]["power"];
}

/** The signals of one pool. */
export interface PoolSignals {
  readonly pool: string;
  readonly work: WorkSum;
  /** Physical GPUs that report each signal, allocated or not. */
  readonly reported: Readonly<Record<TelemetrySignal, number>>;
  /** Allocated physical GPUs that cannot be judged as stalled or not, by reason. */
  readonly stallUnknown: Readonly<Record<StallUnknownReason, number>>;
}

export interface TeamSignals {
  readonly team: string;
  readonly pool: string;
  readonly work: WorkSum;
}

/** What telemetry shows beside activity, and what it cannot show. */
export interface Signals {
  /** Signals of each pool, ordered by its name. */
  readonly pools: readonly PoolSignals[];
  /** Signals of each team that holds GPUs, ordered by team and pool. */
  readonly teams: readonly TeamSignals[];
}

export const noSignals: Signals = { pools: [], teams: [] };

/** Measures the signals of a moment, reading every device once. Pure. */
export function measureSignals(snapshot: Snapshot, { power }: SignalSettings): Signals {
  const sums = new SignalSums(snapshot, power);
  inRanges(snapshot.devices.length, sums);
  const { pools, teams } = sums;
  const workOf = (pool: string): WorkSum => mergeWork([...teams.values()].flatMap((of) => of.get(pool) ?? []));
  return {
    pools: [...pools.values()]
      .sort((one, other) => (one.pool < other.pool ? -1 : 1))
      .map((sum) => ({ ...sum, work: workOf(sum.pool) })),
    teams: [...teams]
      .sort(byName)
      .flatMap(([team, of]) => [...of].sort(byName).map(([name, work]) => ({ team, pool: name, work }))),
  };
}

/** The snapshot's parts that are read. */
type Measured = Pick<Snapshot, "devices" | "pods">;

class SignalSums {
  readonly pools = new Map<string, PoolSum>();
  readonly teams = new Map<string, Map<string, WorkSum>>();
  readonly #ranges = new Map<string, PowerRange | null>();
  readonly #snapshot: Measured;
  readonly #power: SignalSettings["power"];
  #pool: PoolSum | null = null;

  constructor(snapshot: Measured, power: SignalSettings["power"]) {
    this.#snapshot = snapshot;
    this.#power = power;
  }

  addRange(from: number, to: number): void {
    const { devices } = this.#snapshot;
    for (let i = from; i < to; i++) {
      const device = devices[i];
      if (device !== undefined) this.#add(device);
    }
  }

  #add(device: Device): void {
    if (this.#pool === null || this.#pool.pool !== device.pool) this.#pool = poolSum(this.pools, device.pool);
    countReported(this.#pool, device);
    const [holding] = device.holders;
    if (holding === undefined) return;
    const range = this.#rangeOf(device.model);
    const unknown = stallUnknownBecause(device, range);
    if (unknown !== null) this.#pool.stallUnknown[unknown] += allocatedOf(device);
    const pod = this.#snapshot.pods[holding.pod];
    if (device.holders.length !== 1 || holding.estimated || pod === undefined) return;
    addWork(teamSum(this.teams, pod.team, device.pool), device, range, holding.share);
  }

  /** The power range of a model. Each one is looked up once. */
  #rangeOf(model: string): PowerRange | null {
    let range = this.#ranges.get(model);
    if (range === undefined) {
      range = powerRangeOf(model, this.#power);
      this.#ranges.set(model, range);
    }
    return range;
  }
}

keepShape(new SignalSums({ devices: [], pods: [] }, {}));

const byName = ([one]: readonly [string, unknown], [other]: readonly [string, unknown]): number =>
  one < other ? -1 : 1;

interface PoolSum {
  readonly pool: string;
  readonly reported: Record<TelemetrySignal, number>;
  readonly stallUnknown: Record<StallUnknownReason, number>;
}

function poolSum(pools: Map<string, PoolSum>, pool: string): PoolSum {
  const known = pools.get(pool);
  if (known !== undefined) return known;
  const sum: PoolSum = { pool, reported: noneReported(), stallUnknown: noneUnknown() };
  pools.set(pool, sum);
  return sum;
}

function teamSum(teams: Map<string, Map<string, WorkSum>>, team: string, pool: string): WorkSum {
  let pools = teams.get(team);
  if (pools === undefined) {
    pools = new Map();
    teams.set(team, pools);
  }
  let sum = pools.get(pool);
  if (sum === undefined) {
    sum = noWork();
    pools.set(pool, sum);
  }
  return sum;
}

/** Counts the signals that a device reports. A table of functions for the signals would take twice as long, for 80,000 GPUs. */
function countReported({ reported }: PoolSum, { reading, weight }: Device): void {
  if (reading === null) return;
  if (reading.smActive !== null) reported.sm_active += weight;
  if (reading.grEngineActive !== null) reported.gr_engine_active += weight;
  if (reading.gpuUtil !== null) reported.gpu_util += weight;
  if (reading.tensorActive !== null) reported.tensor_active += weight;
  if (reading.dramActive !== null) reported.dram_active += weight;
  if (reading.pipeActive !== null) reported.other_pipes += weight;
  if (reading.memoryCopyUtil !== null) reported.memory_copy_util += weight;
  if (reading.movedBytesPerSecond !== null) reported.traffic += weight;
  if (reading.powerWatts !== null) reported.power += weight;
  if (reading.powerLimitWatts !== null) reported.power_limit += weight;
  if (reading.clockEventReasons !== null) reported.clock_event_reasons += weight;
  if (reading.lastXid !== null) reported.xid += weight;
}

function allocatedOf({ holders, weight }: Device): number {
  let allocated = 0;
  for (const { share } of holders) allocated += share;
  return Math.min(weight, allocated);
}
