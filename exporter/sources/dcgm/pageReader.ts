import { sameData } from "../../kernel/sameData.ts";
import type { Problem } from "../../model/problem.ts";
import type { TelemetryClaimant, TelemetryPage } from "../../model/telemetry.ts";
import { createColumns } from "./columns.ts";
import { type DeviceShape, deviceKey } from "./deviceReading.ts";
import { readKnownPage } from "./knownPage.ts";
import { layoutOf, type PageLayout } from "./pageLayout.ts";
import * as problems from "./pageProblems.ts";
import type { PageReading } from "./pageReading.ts";
import { type PageRows, readRows } from "./pageRows.ts";
import {
  defaultPageLimits,
  type MeasuredPage,
  measurePage,
  type PageLimits,
  type PageSubject,
  shapeAsOne,
  shapeByHost,
} from "./pageShape.ts";

/** What was read from one target's bytes. */
export interface ReaderResult {
  /** One page, or one for each host where the reader splits; none where the bytes contain no readings. */
  readonly pages: readonly TelemetryPage[];
  readonly problems: readonly Problem[];
  /** Whether any number of any device differs from the page before; `true` for the first page. */
  readonly hasMoved: boolean;
}

/**
 * Reads the pages of one target, one after the other. What it remembers changes only the identity of objects in its answers: a
 * list of claimants is the same for as long as its content is.
 */
export interface PageReader {
  /** Reads one page. `receivedAt`: seconds since the epoch. */
  read(bytes: Uint8Array, receivedAt: number): ReaderResult;
}

export interface PageReaderOptions extends PageSubject {
  /** Whether the page may contain many nodes, one for each host label; else all rows are those of one node. */
  readonly splitsByHost: boolean;
  readonly limits?: Partial<PageLimits> | undefined;
}

/** Reading is synchronous, so all targets share one set of columns. */
const columns = createColumns(64);

/** Reads the bytes of a target that is read only once. Pure; never throws. */
export function readOnce(bytes: Uint8Array, options: PageReaderOptions, receivedAt: number): ReaderResult {
  return createPageReader(options).read(bytes, receivedAt);
}

/** What a reader remembers. */
interface ReaderState {
  readonly subject: PageSubject;
  readonly splitsByHost: boolean;
  readonly limits: PageLimits;
  layout: PageLayout | null;
  /** The devices of the last page that was read in full; they follow what later pages say. */
  shapes: readonly DeviceShape[];
  last: readonly PageReading[];
}

/** Creates a reader that has read no page yet. */
export function createPageReader(options: PageReaderOptions): PageReader {
  const { limits, splitsByHost } = options;
  const state: ReaderState = {
    subject: options,
    splitsByHost,
    limits: limits === undefined ? defaultPageLimits : { ...defaultPageLimits, ...limits },
    layout: null,
    shapes: [],
    last: [],
  };
  return {
    read: (bytes, receivedAt) => {
      const buffer = Buffer.isBuffer(bytes) ? bytes : Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
      const { layout } = state;
      const known = layout === null ? null : readKnown(state, layout, buffer, receivedAt);
      return known ?? readInFull(state, buffer, receivedAt);
    },
  };
}

function readKnown(state: ReaderState, layout: PageLayout, bytes: Buffer, receivedAt: number): ReaderResult | null {
  const { subject, limits } = state;
  const drops = readKnownPage(bytes, layout, columns, subject.origin === "file");
  if (drops === null) return null;
  return resultOf(state, [measurePage(layout.shape, columns.values, drops, subject, receivedAt, limits)]);
}

function readInFull(state: ReaderState, bytes: Buffer, receivedAt: number): ReaderResult {
  const { subject, limits } = state;
  const { rows, empty } = rowsOf(bytes, subject, limits);
  if (rows === null) return { pages: [], problems: empty, hasMoved: false };
  const shaped = state.splitsByHost ? shapeByHost(rows, subject, limits) : [shapeAsOne(rows, subject, limits)];
  const shapes = shaped.flatMap(({ shape }) => shape.devices);
  adoptShapes(shapes, state.shapes);
  state.shapes = shapes;
  const read = shaped.map(({ shape, drops }) =>
    measurePage(shape, rows.columns.values, drops, subject, receivedAt, limits),
  );
  const [only, second] = shaped;
  state.layout = only === undefined || second !== undefined ? null : layoutOf(bytes, rows, only.shape);
  return resultOf(state, read);
}

/**
 * The rows of a page; `null`, and the reason, if it is not the page of an exporter. An empty page is no data, never an idle
 * node.
 */
function rowsOf(
  bytes: Buffer,
  subject: PageSubject,
  limits: PageLimits,
): { readonly rows: PageRows | null; readonly empty: readonly Problem[] } {
  const rows = readRows(bytes, { acceptsCutLine: subject.origin === "file", maxRows: limits.maxRows });
  if (rows.hasKnownRows || bytes.includes("# TYPE DCGM_") || bytes.includes("# TYPE dcgm_")) return { rows, empty: [] };
  const isBlank = !bytes.some((value) => value > 0x20);
  return { rows: null, empty: [isBlank ? problems.emptyPage(subject) : problems.notAnExporter(subject)] };
}

function resultOf(state: ReaderState, measured: readonly MeasuredPage[]): ReaderResult {
  const [only, second] = measured;
  if (only === undefined || second !== undefined) {
    const devices = measured.flatMap((one) => one.devices);
    return resultWith(
      state,
      devices,
      measured.map(({ page }) => page),
      measured.flatMap((one) => one.problems),
    );
  }
  return resultWith(state, only.devices, [only.page], only.problems);
}

function resultWith(
  state: ReaderState,
  devices: readonly PageReading[],
  pages: readonly TelemetryPage[],
  found: readonly Problem[],
): ReaderResult {
  const hasMoved = haveMoved(state.last, devices);
  state.last = devices;
  return { pages, problems: found, hasMoved };
}

/** Whether any number differs; other devices, or the same ones in another order, count as different. */
function haveMoved(before: readonly PageReading[], now: readonly PageReading[]): boolean {
  return before.length !== now.length || now.some((device, index) => isOther(before[index], device));
}

function isOther(before: PageReading | undefined, now: PageReading): boolean {
  if (before?.uuid !== now.uuid || before.gpuInstance !== now.gpuInstance) return true;
  return !now.hasNumbersOf(before);
}

/** Lets new shapes continue from those of the page before, so that what did not change keeps its identity. */
function adoptShapes(shapes: readonly DeviceShape[], before: readonly DeviceShape[]): void {
  const byDevice = new Map(before.map((shape) => [deviceKey(shape.labels), shape]));
  for (const shape of shapes) {
    const known = byDevice.get(deviceKey(shape.labels));
    if (known === undefined) continue;
    if (areSameClaimants(known.claimants, shape)) shape.claimants = known.claimants;
    if (sameData(known.labels, shape.labels)) shape.labels = known.labels;
  }
}

/** Whether a list names a shape's workloads; per-process values are read anew where the shape has any. */
function areSameClaimants(before: readonly TelemetryClaimant[], shape: DeviceShape): boolean {
  const now = shape.claimants;
  const hasProcessValues = shape.processRows !== null;
  return (
    before.length === now.length &&
    now.every((claimant, index) => {
      const other = before[index];
      return (
        other !== undefined &&
        other.namespace === claimant.namespace &&
        other.pod === claimant.pod &&
        other.podUid === claimant.podUid &&
        other.container === claimant.container &&
        other.slots === claimant.slots &&
        (hasProcessValues || (other.processUtil === null && other.processMemoryBytes === null)) &&
        other.claim?.name === claimant.claim?.name &&
        other.claim?.namespace === claimant.claim?.namespace
      );
    })
  );
}
