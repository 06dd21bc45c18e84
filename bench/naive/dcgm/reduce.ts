import type { Problem } from "../../../exporter/model/problem.ts";
import type { DropReason, TelemetryPage } from "../../../exporter/model/telemetry.ts";
import * as problems from "../../../exporter/sources/dcgm/pageProblems.ts";
import { type PageOrigin, targetPodsOf, workloadOf } from "../../../exporter/sources/dcgm/workload.ts";
import type { AttributedRow } from "./claimants.ts";
import { type DeviceLimits, reduceDevices } from "./devices.ts";
import { countDrop, type GrowingDrops, type PageRows, readRows } from "./pageRows.ts";

/** Limits to what is kept of one page. */
export interface PageLimits extends DeviceLimits {
  /** The most distinct label sets of devices: GPUs x instances x sharers x pods. */
  readonly maxRows: number;
}

/** These limits are enough for 64 GPUs of 16 instances each, all of them shared. */
export const defaultPageLimits: PageLimits = {
  maxGpus: 64,
  maxInstancesPerGpu: 16,
  maxClaimantsPerDevice: 128,
  maxRows: 65_536,
};

/** What is known about a page besides its bytes. */
export interface PageContext {
  /** The URL without credentials, or the file name. */
  readonly target: string;
  /** The node that the page describes, whatever its labels are; `null`: its host label decides. */
  readonly node: string | null;
  /** Time of the page, seconds since the epoch. */
  readonly receivedAt: number;
  readonly origin: PageOrigin;
  readonly limits?: Partial<PageLimits>;
}

/** The page of one node; `null` if the bytes contain no data. */
export interface ReadPage {
  readonly page: TelemetryPage | null;
  readonly problems: readonly Problem[];
}

/**
 * Reads all rows as those of one node: `context.node`, or the page's host label if it has exactly one. An empty page is missing
 * data, never an idle node. Pure; never throws.
 */
export function readPage(bytes: Uint8Array, context: PageContext): ReadPage {
  const { rows, empty } = rowsOf(bytes, context);
  if (rows === null) return { page: null, problems: empty };
  const hosts = new Set(rows.rows.map(({ labels }) => labels.host));
  const found = reducePage(attribute(rows, context), rows.drops, context, hosts);
  return hosts.size > 1 ? { ...found, problems: [...found.problems, problems.severalHosts(context, hosts)] } : found;
}

/** Reads a page without a known node, which may have rows of many nodes: returns one page for each host label. */
export function splitByHost(
  bytes: Uint8Array,
  context: PageContext,
): { readonly pages: readonly TelemetryPage[]; readonly problems: readonly Problem[] } {
  const { rows, empty } = rowsOf(bytes, context);
  if (rows === null) return { pages: [], problems: empty };
  const byHost = new Map<string | null, AttributedRow[]>();
  for (const attributed of attribute(rows, context)) {
    const { host } = attributed.row.labels;
    const group = byHost.get(host);
    if (group === undefined) byHost.set(host, [attributed]);
    else group.push(attributed);
  }
  const hosts = [...byHost.keys()].sort((one, other) => ((one ?? "") < (other ?? "") ? -1 : 1));
  if (hosts.length === 0) hosts.push(null);
  const read = hosts.map((host, index) =>
    // Drops that belong to no row are reported once, with the first page.
    reducePage(byHost.get(host) ?? [], index === 0 ? rows.drops : {}, context, new Set([host])),
  );
  return {
    pages: read.flatMap(({ page }) => (page === null ? [] : [page])),
    problems: read.flatMap((one) => one.problems),
  };
}

function rowsOf(
  bytes: Uint8Array,
  context: PageContext,
): { readonly rows: PageRows | null; readonly empty: readonly Problem[] } {
  const buffer = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  const options = {
    acceptsCutLine: context.origin === "file",
    maxRows: { ...defaultPageLimits, ...context.limits }.maxRows,
  };
  const rows = readRows(buffer, options);
  if (rows.hasKnownRows || buffer.includes("# TYPE DCGM_") || buffer.includes("# TYPE dcgm_"))
    return { rows, empty: [] };
  const isBlank = !buffer.some((value) => value > 0x20);
  return { rows: null, empty: [isBlank ? problems.emptyPage(context) : problems.notAnExporter(context)] };
}

function attribute(rows: PageRows, context: PageContext): readonly AttributedRow[] {
  const targetPods = targetPodsOf(rows.rows, context.origin);
  return rows.rows.map((row) => ({ row, workload: workloadOf(row.labels, context.origin, targetPods) }));
}

/**
 * The page of one node, made from rows whose workloads are known. `lineDrops` are reported together with the page's own drops.
 * Pure.
 */
export function reducePage(
  rows: readonly AttributedRow[],
  lineDrops: GrowingDrops,
  context: PageContext,
  hosts: ReadonlySet<string | null>,
): ReadPage {
  const limits = { ...defaultPageLimits, ...context.limits };
  const { devices, cutRows, hasCutClaimants } = reduceDevices(rows, limits);
  const dropped: GrowingDrops = { ...lineDrops };
  for (const { row } of rows) {
    for (const reason of reasons) {
      const count = row.drops[reason];
      if (count !== undefined) countDrop(dropped, reason, count);
    }
    if (row.repeats > 0) countDrop(dropped, "duplicate", row.repeats);
  }
  const cutSamples = cutRows.reduce(
    (sum, { row }) => sum + row.values.filter((value) => !Number.isNaN(value)).length,
    0,
  );
  if (cutRows.length > 0) countDrop(dropped, "too_many_devices", cutSamples);
  const hostLabel = [...hosts].filter((host) => host !== null).sort()[0] ?? null;
  const node = context.node ?? (hosts.size === 1 ? hostLabel : null);
  const { target, receivedAt } = context;
  const page: TelemetryPage = { target, node, hostLabel, receivedAt, devices, dropped };
  const found: Problem[] = [];
  if (devices.length === 0) found.push(problems.noDevices(context));
  if ((dropped.too_many_devices ?? 0) > 0) found.push(problems.tooManyDevices(context, limits));
  if (hasCutClaimants) found.push(problems.tooManyClaimants(context, limits));
  if ((dropped.malformed_line ?? 0) > 0) found.push(problems.malformedLines(context, dropped.malformed_line ?? 0));
  return { page, problems: found };
}

const reasons: readonly DropReason[] = ["blank", "not_a_number", "out_of_range"];
