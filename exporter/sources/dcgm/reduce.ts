import type { Problem } from "../../model/problem.ts";
import type { TelemetryPage } from "../../model/telemetry.ts";
import * as problems from "./pageProblems.ts";
import { type PageRows, readRows } from "./pageRows.ts";
import { measurePage, type PageLimits, type PageSubject, type ReadPage, shapeAsOne, shapeByHost } from "./pageShape.ts";

export type { PageLimits };

/** Room for 64 GPUs of 16 instances each, all of them shared. */
export const defaultPageLimits: PageLimits = {
  maxGpus: 64,
  maxInstancesPerGpu: 16,
  maxClaimantsPerDevice: 128,
  maxRows: 65_536,
};

/** What is known about a page besides its bytes. */
export interface PageContext extends PageSubject {
  /** Seconds since the epoch. */
  readonly receivedAt: number;
  readonly limits?: Partial<PageLimits>;
}

/**
 * Reads all rows as those of one node: `context.node`, or the page's host label if it has exactly one. An empty page
 * is no data, never an idle node. Pure; never throws.
 */
export function readPage(bytes: Uint8Array, context: PageContext): ReadPage {
  const limits = { ...defaultPageLimits, ...context.limits };
  const { rows, empty } = rowsOf(asBuffer(bytes), context, limits);
  if (rows === null) return { page: null, problems: empty };
  const { shape, drops } = shapeAsOne(rows, context, limits);
  return measurePage(shape, rows.columns.values, drops, context, context.receivedAt, limits);
}

/** The same for a page without a known node that may hold many: one page per host label. */
export function splitByHost(
  bytes: Uint8Array,
  context: PageContext,
): { readonly pages: readonly TelemetryPage[]; readonly problems: readonly Problem[] } {
  const limits = { ...defaultPageLimits, ...context.limits };
  const { rows, empty } = rowsOf(asBuffer(bytes), context, limits);
  if (rows === null) return { pages: [], problems: empty };
  const read = shapeByHost(rows, context, limits).map(({ shape, drops }) =>
    measurePage(shape, rows.columns.values, drops, context, context.receivedAt, limits),
  );
  return { pages: read.map(({ page }) => page), problems: read.flatMap((one) => one.problems) };
}

/** The same bytes as a buffer. */
export function asBuffer(bytes: Uint8Array): Buffer {
  return Buffer.isBuffer(bytes) ? bytes : Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
}

/** The rows of a page; `null`, and the reason, if it is not an exporter's page. */
export function rowsOf(
  bytes: Buffer,
  subject: PageSubject,
  limits: PageLimits,
): { readonly rows: PageRows | null; readonly empty: readonly Problem[] } {
  const rows = readRows(bytes, { acceptsCutLine: subject.origin === "file", maxRows: limits.maxRows });
  if (rows.hasKnownRows || bytes.includes("# TYPE DCGM_") || bytes.includes("# TYPE dcgm_")) return { rows, empty: [] };
  const isBlank = !bytes.some((value) => value > 0x20);
  return { rows: null, empty: [isBlank ? problems.emptyPage(subject) : problems.notAnExporter(subject)] };
}
