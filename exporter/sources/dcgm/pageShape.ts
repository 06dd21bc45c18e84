import type { Problem } from "../../model/problem.ts";
import type { TelemetryPage } from "../../model/telemetry.ts";
import type { AttributedRow } from "./claimants.ts";
import { rowWidth } from "./columns.ts";
import { type DeviceShape, readDevice } from "./deviceReading.ts";
import { type DeviceLimits, shapeDevices } from "./devices.ts";
import * as problems from "./pageProblems.ts";
import type { PageReading } from "./pageReading.ts";
import { countDrop, type GrowingDrops, type PageRows } from "./pageRows.ts";
import { type PageOrigin, targetPodsOf, workloadOf } from "./workload.ts";

/** Bounds on what one page can make us keep. */
export interface PageLimits extends DeviceLimits {
  /** Number of distinct label sets of devices: GPUs x instances x sharers x pods. */
  readonly maxRows: number;
}

/** Limits that are large enough for 64 GPUs of 16 instances each, all of them shared. */
export const defaultPageLimits: PageLimits = {
  maxGpus: 64,
  maxInstancesPerGpu: 16,
  maxClaimantsPerDevice: 128,
  maxRows: 65_536,
};

/** What is known about a page besides its bytes and its time. */
export interface PageSubject {
  /** URL without credentials, or file name. */
  readonly target: string;
  /** The node that it speaks for, whatever its labels contain; with `null` its host label is believed. */
  readonly node: string | null;
  readonly origin: PageOrigin;
}

/**
 * Everything about the page of one node that follows from its labels. It is the same object for as long as they are the same.
 */
export interface PageShape {
  readonly node: string | null;
  readonly hostLabel: string | null;
  readonly devices: readonly DeviceShape[];
  readonly cutRows: readonly number[];
  readonly hasCutClaimants: boolean;
  /** The problem that rows of several hosts were taken as those of one node; `null` where they were not. */
  readonly severalHosts: Problem | null;
}

/** A shape and the drops of its rows. */
export interface ShapedPage {
  readonly shape: PageShape;
  readonly drops: GrowingDrops;
}

/** Takes all rows as those of one node. */
export function shapeAsOne(rows: PageRows, subject: PageSubject, limits: PageLimits): ShapedPage {
  const hosts = new Set(rows.rows.map(({ labels }) => labels.host));
  return shapeRows(attribute(rows, subject), rows.drops, subject, { hosts, limits });
}

/** Takes the rows of each host as those of a node of its own, in the order of the hosts. */
export function shapeByHost(rows: PageRows, subject: PageSubject, limits: PageLimits): readonly ShapedPage[] {
  const byHost = Map.groupBy(attribute(rows, subject), ({ row }) => row.labels.host);
  const hosts = [...byHost.keys()].sort((one, other) => ((one ?? "") < (other ?? "") ? -1 : 1));
  if (hosts.length === 0) hosts.push(null);
  return hosts.map((host, index) =>
    // Drops that belong to no row are reported once, by the first page.
    shapeRows(byHost.get(host) ?? [], index === 0 ? rows.drops : {}, subject, { hosts: new Set([host]), limits }),
  );
}

/** A page, its devices once more as readings of a page, and what is odd about it. */
export interface MeasuredPage {
  readonly page: TelemetryPage;
  readonly devices: readonly PageReading[];
  readonly problems: readonly Problem[];
}

/** Reads the devices of a page from the columns. `dropped` is kept in the page and increased. */
export function measurePage(
  shape: PageShape,
  values: Float64Array,
  dropped: GrowingDrops,
  subject: PageSubject,
  receivedAt: number,
  limits: PageLimits,
): MeasuredPage {
  const devices = shape.devices.map((device) => readDevice(device, values));
  if (shape.cutRows.length > 0) countDrop(dropped, "too_many_devices", validValues(values, shape.cutRows));
  const { target } = subject;
  const page: TelemetryPage = { target, node: shape.node, hostLabel: shape.hostLabel, receivedAt, devices, dropped };
  const found: Problem[] = [];
  if (devices.length === 0) found.push(problems.noDevices(subject));
  if ((dropped.too_many_devices ?? 0) > 0) found.push(problems.tooManyDevices(subject, limits));
  if (shape.hasCutClaimants) found.push(problems.tooManyClaimants(subject, limits));
  if ((dropped.malformed_line ?? 0) > 0) found.push(problems.malformedLines(subject, dropped.malformed_line ?? 0));
  if (shape.severalHosts !== null) found.push(shape.severalHosts);
  return { page, devices, problems: found };
}

function attribute(rows: PageRows, subject: PageSubject): readonly AttributedRow[] {
  const targetPods = targetPodsOf(rows.rows, subject.origin);
  return rows.rows.map((row) => ({ row, workload: workloadOf(row.labels, subject.origin, targetPods) }));
}

function shapeRows(
  rows: readonly AttributedRow[],
  lineDrops: GrowingDrops,
  subject: PageSubject,
  options: { readonly hosts: ReadonlySet<string | null>; readonly limits: PageLimits },
): ShapedPage {
  const { hosts, limits } = options;
  const { devices, cutRows, hasCutClaimants } = shapeDevices(rows, limits);
  const drops: GrowingDrops = { ...lineDrops };
  for (const { row } of rows) {
    for (const reason of reasons) {
      const count = row.drops[reason];
      if (count !== undefined) countDrop(drops, reason, count);
    }
  }
  const hostLabel = [...hosts].filter((host) => host !== null).sort()[0] ?? null;
  const node = subject.node ?? (hosts.size === 1 ? hostLabel : null);
  const severalHosts = hosts.size > 1 ? problems.severalHosts(subject, hosts) : null;
  return { shape: { node, hostLabel, devices, cutRows, hasCutClaimants, severalHosts }, drops };
}

const reasons = ["blank", "not_a_number", "out_of_range", "duplicate"] as const;

function validValues(values: Float64Array, rows: readonly number[]): number {
  let count = 0;
  for (const row of rows) {
    for (let at = row * rowWidth; at < (row + 1) * rowWidth; at += 1) if (!Number.isNaN(values[at])) count += 1;
  }
  return count;
}
