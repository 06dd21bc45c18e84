import type { Problem } from "../../model/problem.ts";
import type { DeviceReading, TelemetryClaimant, TelemetryPage } from "../../model/telemetry.ts";
import { createColumns } from "./columns.ts";
import { type DeviceShape, deviceKey, isSameMeasurement } from "./deviceReading.ts";
import { readKnownPage } from "./knownPage.ts";
import { layoutOf, type PageLayout } from "./pageLayout.ts";
import * as problems from "./pageProblems.ts";
import { type PageRows, readRows } from "./pageRows.ts";
import {
  defaultPageLimits,
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
 * Reads the pages of one target, one after the other. What it remembers changes only the identity of objects in its answers: an
 * unchanged device is the same object as on the page before, and a list of claimants is the same for as long as its content is.
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
  last: readonly DeviceReading[];
}

/** Creates a reader that has read no page yet. */
export function createPageReader(options: PageReaderOptions): PageReader {
  const { limits, splitsByHost } = options;
  const state: ReaderState = {
    subject: options,
    splitsByHost,
    limits: limits === undefined ? defaultPageLimits : { ...defaultPageLimits, ...limits },
    layout: null,
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
  const { page, problems: found } = measurePage(layout.shape, columns.values, drops, subject, receivedAt, limits);
  return resultOf(state, [page], found);
}

function readInFull(state: ReaderState, bytes: Buffer, receivedAt: number): ReaderResult {
  const { subject, limits } = state;
  const { rows, empty } = rowsOf(bytes, subject, limits);
  if (rows === null) return { pages: [], problems: empty, hasMoved: false };
  const shaped = state.splitsByHost ? shapeByHost(rows, subject, limits) : [shapeAsOne(rows, subject, limits)];
  adoptReadings(
    shaped.flatMap(({ shape }) => shape.devices),
    state.last,
  );
  const read = shaped.map(({ shape, drops }) =>
    measurePage(shape, rows.columns.values, drops, subject, receivedAt, limits),
  );
  const [only, second] = shaped;
  state.layout = only === undefined || second !== undefined ? null : layoutOf(bytes, rows, only.shape);
  return resultOf(
    state,
    read.map(({ page }) => page),
    read.flatMap((one) => one.problems),
  );
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

function resultOf(state: ReaderState, pages: readonly TelemetryPage[], found: readonly Problem[]): ReaderResult {
  const [first, second] = pages;
  const devices = first !== undefined && second === undefined ? first.devices : pages.flatMap((page) => page.devices);
  const hasMoved = haveMoved(state.last, devices);
  state.last = devices;
  return { pages, problems: found, hasMoved };
}

/** Whether any number differs; other devices, or the same ones in another order, count as different. */
function haveMoved(before: readonly DeviceReading[], now: readonly DeviceReading[]): boolean {
  return before.length !== now.length || now.some((device, index) => isOther(before[index], device));
}

function isOther(before: DeviceReading | undefined, now: DeviceReading): boolean {
  if (before === now) return false;
  if (before?.uuid !== now.uuid || before.gpuInstance !== now.gpuInstance) return true;
  return !isSameMeasurement(before, now);
}

/** Lets new shapes continue from the readings of the page before, so that what did not change keeps its identity. */
function adoptReadings(shapes: readonly DeviceShape[], before: readonly DeviceReading[]): void {
  const byDevice = new Map(before.map((device) => [deviceKey(device), device]));
  for (const shape of shapes) {
    const known = byDevice.get(deviceKey(shape.last));
    if (known === undefined) continue;
    const { uuid, gpuInstance, profile, migUuid, modelName, gpuIndex, virtualSlots } = shape.last;
    const claimants = areSameClaimants(known.claimants, shape) ? known.claimants : shape.last.claimants;
    const isSame =
      claimants === known.claimants &&
      profile === known.profile &&
      migUuid === known.migUuid &&
      modelName === known.modelName &&
      gpuIndex === known.gpuIndex &&
      virtualSlots === known.virtualSlots;
    shape.last = isSame
      ? known
      : { ...known, uuid, gpuInstance, profile, migUuid, modelName, gpuIndex, virtualSlots, claimants };
  }
}

/** Whether a list names a shape's workloads; per-process values are read anew where the shape has any. */
function areSameClaimants(before: readonly TelemetryClaimant[], shape: DeviceShape): boolean {
  const now = shape.last.claimants;
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
