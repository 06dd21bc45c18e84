import type { Problem } from "../../model/problem.ts";
import type { DeviceReading, TelemetryPage } from "../../model/telemetry.ts";
import { deviceKey, isSameMeasurement } from "./deviceReading.ts";
import { type Standstill, standstill } from "./frozen.ts";
import { exporterStandsStill } from "./pageProblems.ts";
import { firstOnes } from "./targetProblems.ts";

/** The last scrape of a node, and since when its values have been the same. */
export interface NodeMovement extends Standstill {
  /** Time of the newest of its pages, seconds since the epoch. */
  readonly scrapedAt: number;
}

/** Which nodes' values change, and which do not. */
export interface Movements {
  readonly movements: ReadonlyMap<string, NodeMovement>;
  /** Nodes whose pages are no data. */
  readonly still: ReadonlySet<string>;
  readonly problems: readonly Problem[];
}

/** A scrape that is later by this much is another sample; clocks and ages are not known more exactly. Seconds. */
const leastSecondsApart = 1;

/**
 * Follows the values of each node from answer to answer. Only new scrapes count: an answer may have the samples of the one
 * before. Nodes that an answer lacks are forgotten. Pure.
 */
export function watchMovement(
  before: ReadonlyMap<string, NodeMovement>,
  byNode: ReadonlyMap<string, readonly TelemetryPage[]>,
  server: string,
  frozenAfterSeconds: number,
): Movements {
  const movements = new Map<string, NodeMovement>();
  const still = new Set<string>();
  const problems: Problem[] = [];
  for (const [node, pages] of byNode) {
    const movement = moved(before.get(node), pages);
    movements.set(node, movement);
    const found = standstill(movement, movement.scrapedAt, frozenAfterSeconds);
    if (found === null) continue;
    still.add(node);
    problems.push(exporterStandsStill({ target: server, node }, found, movement.movedAt));
  }
  const summary = `${problems.length} exporters show values that do not change`;
  return { movements, still, problems: firstOnes(problems, "targets-failing", "error", summary) };
}

function moved(known: NodeMovement | undefined, pages: readonly TelemetryPage[]): NodeMovement {
  const scrapedAt = pages.reduce((newest, { receivedAt }) => Math.max(newest, receivedAt), 0);
  if (known === undefined || haveMoved(known.pages, pages))
    return { pages, scrapedAt, movedAt: scrapedAt, stillPages: 0 };
  const movedAt = Math.min(known.movedAt, scrapedAt);
  // A clock that was set back begins a new count of time, not of pages.
  const isNew = Math.abs(scrapedAt - known.scrapedAt) >= leastSecondsApart;
  return {
    pages,
    movedAt,
    scrapedAt: isNew ? scrapedAt : known.scrapedAt,
    stillPages: known.stillPages + Number(isNew),
  };
}

/**
 * Whether a reading differs from all readings that the pages before have of its device, or the devices are others. Two servers
 * that scrape one exporter give two pages, in any order.
 */
function haveMoved(before: readonly TelemetryPage[], now: readonly TelemetryPage[]): boolean {
  const known = Map.groupBy(devicesOf(before), deviceKey);
  const devices = devicesOf(now);
  const isKnown = (device: DeviceReading): boolean =>
    known.get(deviceKey(device))?.some((other) => isSameMeasurement(other, device)) === true;
  return !devices.every(isKnown) || new Set(devices.map(deviceKey)).size !== known.size;
}

const devicesOf = (pages: readonly TelemetryPage[]): readonly DeviceReading[] => pages.flatMap((page) => page.devices);
