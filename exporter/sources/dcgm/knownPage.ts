import { byte, endOfMetricName, hashOfRange, isSameBytes, skipBlanks } from "../../kernel/exposition/bytes.ts";
import { powersOfTen } from "../../kernel/exposition/decimal.ts";
import { maxExpectedTail, maxLineBytes, nearNewline, readSampleValue } from "../../kernel/exposition/sampleTail.ts";
import { addValue, type Columns, clearColumns } from "./columns.ts";
import { readLabelBlock } from "./labelBlock.ts";
import {
  blocksByText,
  firstBlockOf,
  lengthOfBlock,
  type PageLayout,
  rowOfBlock,
  setFirstBlockOf,
  setSuccessorOfBlock,
  startOfBlock,
  successorOfBlock,
} from "./pageLayout.ts";
import { blockOfUnknown, countDrop, type GrowingDrops } from "./pageRows.ts";
import { type MetricUse, useOfMetricAt } from "./vocabulary.ts";

/** How far the reading of a page has come. */
interface Progress {
  readonly bytes: Buffer;
  readonly view: DataView;
  readonly layout: PageLayout;
  readonly columns: Columns;
  /** For each row of the columns: 1 if the page has had it. */
  readonly seen: Uint8Array;
  readonly drops: GrowingDrops;
  readonly acceptsCutLine: boolean;
  /** Start, length and hash of the name in the line before. */
  nameStart: number;
  nameLength: number;
  use: MetricUse;
  nameHash: number;
  /** Block of the line before; -1 at the first line of a metric. */
  previous: number;
  seenRows: number;
  /** Whether a label block was found that the layout does not have. */
  isUnknownLayout: boolean;
  /** Blocks by their text; `null` until one is out of its usual place. */
  byText: ReadonlyMap<string, number> | null;
}

/** Reading is synchronous, so all targets share one set of marks. */
let marks = new Uint8Array(64);

/**
 * Reads a page whose label blocks are those of `layout`, in whatever order, into `columns`. It finds what `readRows` finds,
 * without decoding a label. Returns what was dropped, or `null` (and columns that must not be used) when the page has a block
 * that the layout does not have, or lacks one of a device.
 */
export function readKnownPage(
  bytes: Buffer,
  layout: PageLayout,
  columns: Columns,
  acceptsCutLine: boolean,
): GrowingDrops | null {
  clearColumns(columns, layout.rowCount);
  if (marks.length < layout.rowCount) marks = new Uint8Array(2 * layout.rowCount);
  else marks.fill(0, 0, layout.rowCount);
  const progress: Progress = {
    bytes,
    view: new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength),
    layout,
    columns,
    seen: marks,
    drops: {},
    acceptsCutLine,
    nameStart: 0,
    nameLength: 0,
    use: "skip",
    nameHash: 0,
    previous: -1,
    seenRows: 0,
    isUnknownLayout: false,
    byText: null,
  };
  let at = 0;
  while (at < bytes.length && !progress.isUnknownLayout) {
    let next = bytes[at] === byte.hash ? -1 : readExpectedLine(progress, at);
    if (next < 0 && bytes[at] !== byte.hash) next = readFirstLine(progress, at);
    at = next < 0 ? readFullLine(progress, at) : readRun(progress, next);
  }
  return progress.isUnknownLayout || progress.seenRows < layout.rowCount ? null : progress.drops;
}

/**
 * Reads the line at `start` if it has the metric of the line before, and one of the two label blocks that may be
 * expected. Returns the start of the next line, or -1 when the line must be read in full.
 */
function readExpectedLine(progress: Progress, start: number): number {
  const { bytes, view, nameLength, use } = progress;
  const open = start + nameLength;
  if (use === "skip" || open >= bytes.length || bytes[open] !== byte.openBrace) return -1;
  if (!isSameBytes(view, start, view, progress.nameStart, nameLength)) return -1;
  const block = expectedBlock(progress, open);
  if (block < 0) return -1;
  const close = open + lengthOfBlock(progress.layout, block);
  if (close - start > maxLineBytes - maxExpectedTail) return -1;
  const lineEnd = use === "presence" ? nearNewline(bytes, close) : readExpectedValue(progress, use, block, close);
  if (lineEnd < 0) return -1;
  noteBlock(progress, block);
  return lineEnd + 1;
}

/** Reads the line at `start` in the same way if its metric is not that of the line before. */
function readFirstLine(progress: Progress, start: number): number {
  const { bytes } = progress;
  const nameEnd = endOfMetricName(bytes, start, bytes.length);
  if (nameEnd === start || bytes[nameEnd] !== byte.openBrace) return -1;
  noteName(progress, start, nameEnd);
  return readExpectedLine(progress, start);
}

/**
 * Continues over the lines of the same metric whose label blocks are in the order of the layout. They are most of every page,
 * so nothing else is done for them. Returns the start of the first line that differs.
 */
function readRun(progress: Progress, start: number): number {
  const { bytes, view, layout, nameStart, nameLength, use } = progress;
  if (use === "skip") return start;
  let at = start;
  for (let block = progress.previous + 1; block < layout.blockCount; block += 1) {
    const open = at + nameLength;
    const from = startOfBlock(layout, block);
    const length = startOfBlock(layout, block + 1) - from;
    const close = open + length;
    if (close >= bytes.length || bytes[open] !== byte.openBrace || close - at > maxLineBytes - maxExpectedTail) break;
    if (!isSameBytes(view, at, view, nameStart, nameLength)) break;
    if (!isSameBytes(layout.packed, from, view, open, length)) break;
    const lineEnd = use === "presence" ? nearNewline(bytes, close) : readExpectedValue(progress, use, block, close);
    if (lineEnd < 0) break;
    markSeen(progress, block);
    progress.previous = block;
    at = lineEnd + 1;
  }
  return at;
}

/** Reads the value after a label block up to the line's end and returns the position of that end; -1 if it is not near. */
function readExpectedValue(progress: Progress, use: Exclude<MetricUse, string>, block: number, close: number): number {
  const { bytes } = progress;
  let at = close + 1;
  let value = 0;
  let digits = 0;
  let decimals = -1;
  for (; ; at += 1) {
    const digit = (bytes[at] ?? 0) - byte.zero;
    if (digit >= 0 && digit <= 9) {
      value = value * 10 + digit;
      digits += 1;
      if (decimals >= 0) decimals += 1;
    } else if (digit === byte.dot - byte.zero && decimals < 0) decimals = 0;
    else break;
  }
  if (bytes[at] === byte.newline && bytes[close] === byte.blank && digits > 0 && digits <= exactDigits) {
    addSample(progress, use, block, decimals > 0 ? value / (powersOfTen[decimals] ?? 1) : value);
    return at;
  }
  const lineEnd = nearNewline(bytes, close);
  if (lineEnd >= 0 && !addTail(progress, use, block, close, lineEnd)) countDrop(progress.drops, "malformed_line");
  return lineEnd;
}

const exactDigits = powersOfTen.length - 1;

function readFullLine(progress: Progress, at: number): number {
  const { bytes } = progress;
  const newline = bytes.indexOf(byte.newline, at);
  const lineEnd = newline < 0 ? bytes.length : newline;
  const start = skipBlanks(bytes, at, lineEnd);
  if (start < lineEnd && bytes[start] !== byte.hash) {
    const isCut = newline < 0 && !progress.acceptsCutLine;
    if (isCut || lineEnd - start > maxLineBytes || !readLine(progress, start, lineEnd))
      countDrop(progress.drops, "malformed_line");
  }
  return lineEnd + 1;
}

/** Whether the line is a sample of any metric. */
function readLine(progress: Progress, start: number, lineEnd: number): boolean {
  const { bytes } = progress;
  const nameEnd = endOfMetricName(bytes, start, lineEnd);
  if (nameEnd === start || nameEnd === lineEnd) return false;
  const after = bytes[nameEnd];
  if (after !== byte.openBrace && after !== byte.blank && after !== byte.tab) return false;
  noteName(progress, start, nameEnd);
  const { use } = progress;
  if (use === "skip") return true;
  const at = skipBlanks(bytes, nameEnd, lineEnd);
  if (at < lineEnd && bytes[at] === byte.openBrace) {
    const block = blockAt(progress, at, lineEnd);
    if (block < 0) return progress.isUnknownLayout;
    noteBlock(progress, block);
    return use === "presence" || addTail(progress, use, block, at + lengthOfBlock(progress.layout, block), lineEnd);
  }
  return use === "presence" || addTail(progress, use, -1, at, lineEnd);
}

function noteName(progress: Progress, start: number, end: number): void {
  const { view, nameStart, nameLength } = progress;
  if (end - start === nameLength && isSameBytes(view, start, view, nameStart, nameLength)) return;
  const hash = hashOfRange(progress.bytes, start, end);
  progress.nameStart = start;
  progress.nameLength = end - start;
  progress.use = useOfMetricAt(progress.bytes, start, end, hash);
  progress.nameHash = hash;
  progress.previous = -1;
}

/** The block at `open`, wherever it is in the layout; -1 when it is malformed or not in the layout at all. */
function blockAt(progress: Progress, open: number, lineEnd: number): number {
  const expected = expectedBlock(progress, open);
  if (expected >= 0) return expected;
  const parsed = readLabelBlock(progress.bytes, open, lineEnd);
  if (parsed === null) return -1;
  progress.byText ??= blocksByText(progress.layout);
  const block = progress.byText.get(progress.bytes.toString("latin1", open, parsed.end)) ?? -1;
  progress.isUnknownLayout = block < 0;
  return block;
}

/** The block at `open` if it is the next one of the layout, or the one that followed last time; else -1. */
function expectedBlock(progress: Progress, open: number): number {
  const { layout, previous } = progress;
  const next = previous < 0 ? firstBlockOf(layout, progress.nameHash) : previous + 1;
  if (isBlockAt(progress, next, open)) return next;
  const other = previous < 0 ? 0 : successorOfBlock(layout, previous);
  return isBlockAt(progress, other, open) ? other : -1;
}

function isBlockAt(progress: Progress, block: number, open: number): boolean {
  const { layout, view } = progress;
  if (block >= layout.blockCount) return false;
  const length = lengthOfBlock(layout, block);
  return (
    open + length <= view.byteLength && isSameBytes(layout.packed, startOfBlock(layout, block), view, open, length)
  );
}

/** Marks the block as found, and remembers which one it followed. */
function noteBlock(progress: Progress, block: number): void {
  const { layout, previous } = progress;
  if (previous < 0) setFirstBlockOf(layout, progress.nameHash, block);
  else if (block !== previous + 1) setSuccessorOfBlock(layout, previous, block);
  progress.previous = block;
  markSeen(progress, block);
}

function markSeen(progress: Progress, block: number): void {
  const { layout, seen } = progress;
  const row = rowOfBlock(layout, block);
  if (row < 0 || seen[row] === 1) return;
  seen[row] = 1;
  progress.seenRows += 1;
}

/** Whether the rest of a line after its labels is that of a sample; if so, it takes in the sample. */
function addTail(
  progress: Progress,
  use: Exclude<MetricUse, string>,
  block: number,
  from: number,
  lineEnd: number,
): boolean {
  const value = readSampleValue(progress.bytes, from, lineEnd);
  if (value === null) return false;
  addSample(progress, use, block, value);
  return true;
}

/** Takes in a sample; `block` is -1 for a row without labels. */
function addSample(progress: Progress, use: Exclude<MetricUse, string>, block: number, value: number): void {
  const row = block < 0 ? blockOfUnknown : rowOfBlock(progress.layout, block);
  if (row >= 0) {
    const reason = addValue(progress.columns, row, use, value);
    if (reason !== null) countDrop(progress.drops, reason);
  } else if (row === blockOfUnknown) countDrop(progress.drops, "no_device");
}
