import { byte, endOfMetricName, isSameRange, skipBlanks } from "./bytes.ts";
import { maxExpectedTail, maxLineBytes, nearNewline, readSampleValue } from "./sampleTail.ts";

/** A label block and its end. */
export interface LabelBlock<Labels> {
  readonly labels: Labels;
  /** The position after the closing brace. */
  readonly end: number;
}

/** The metrics and labels that a page is read for. */
export interface PageVocabulary<Metric extends object, Labels> {
  /**
   * The use of a metric with this name: what it is read as; `presence` if only its labels are read, and `skip` if nothing of it
   * is.
   */
  useOf(name: string): Metric | "presence" | "skip";
  /** Reads the label block whose opening brace is at `open`, at most up to `lineEnd`; `null` when it is malformed. */
  readBlock(bytes: Buffer, open: number, lineEnd: number): LabelBlock<Labels> | null;
  /** The labels of a row that has none. */
  noLabels(): Labels;
}

/** What the lexer reports, in the order of the page. A `Row` is one distinct set of labels. */
export interface LexerSink<Row, Metric extends object, Labels> {
  /**
   * Reports a label block that was not seen before, and where it is: `[from, to)`, which is empty for a row without labels. The
   * result is passed back with every sample that has this block.
   */
  row(labels: Labels, from: number, to: number): Row;
  /** Reports a sample; the value is `NaN` where it is not a finite number. */
  sample(metric: Metric, row: Row, value: number): void;
  /** Reports a line that is neither a comment nor a sample. */
  malformed(): void;
}

/** A label block in the page, and the one that followed it last time: exporters always write the devices in the same order. */
interface SeenBlock<Row> {
  readonly start: number;
  readonly length: number;
  readonly row: Row;
  next: SeenBlock<Row> | null;
}

/**
 * Reads a page in the text exposition format, in one pass. Never throws, whatever the bytes are. The value of a line is decoded
 * only if its metric is known, and a label block only the first time it appears: the block of the next line is compared, byte
 * by byte, with the one that followed before.
 */
export function lexPage<Row, Metric extends object, Labels>(
  bytes: Buffer,
  vocabulary: PageVocabulary<Metric, Labels>,
  options: { readonly acceptsCutLine: boolean },
  sink: LexerSink<Row, Metric, Labels>,
): void {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  const uses = new Map<string, Metric | "presence" | "skip">();
  const blocks = new Map<string, SeenBlock<Row>>();
  let unlabelled: { readonly row: Row } | null = null;
  let previous: SeenBlock<Row> | null = null;
  let first: SeenBlock<Row> | null = null;
  let nameStart = 0;
  let nameLength = 0;
  let use: Metric | "presence" | "skip" = "skip";

  const noteName = (start: number, end: number): void => {
    if (end - start === nameLength && isSameRange(view, start, nameStart, nameLength)) return;
    nameStart = start;
    nameLength = end - start;
    previous = null;
    const name = bytes.toString("latin1", start, end);
    use = uses.get(name) ?? vocabulary.useOf(name);
    if (uses.size < 4096) uses.set(name, use);
  };

  const blockAt = (open: number, lineEnd: number): SeenBlock<Row> | null => {
    const guess: SeenBlock<Row> | null = previous === null ? first : previous.next;
    if (guess !== null && open + guess.length <= lineEnd) {
      if (isSameRange(view, guess.start, open, guess.length)) return guess;
    }
    const parsed = vocabulary.readBlock(bytes, open, lineEnd);
    if (parsed === null) return null;
    const key = bytes.toString("latin1", open, parsed.end);
    let block = blocks.get(key);
    if (block === undefined) {
      block = { start: open, length: parsed.end - open, row: sink.row(parsed.labels, open, parsed.end), next: null };
      blocks.set(key, block);
      first ??= block;
    }
    if (previous !== null) previous.next = block;
    return block;
  };

  /** Reads a line; returns whether it is a sample, of any metric. */
  const readLine = (start: number, lineEnd: number): boolean => {
    const nameEnd = endOfMetricName(bytes, start, lineEnd);
    if (nameEnd === start || nameEnd === lineEnd) return false;
    const after = bytes[nameEnd];
    if (after !== byte.openBrace && after !== byte.blank && after !== byte.tab) return false;
    noteName(start, nameEnd);
    if (use === "skip") return true;
    const at = skipBlanks(bytes, nameEnd, lineEnd);
    if (at < lineEnd && bytes[at] === byte.openBrace) {
      previous = blockAt(at, lineEnd);
      if (previous === null) return false;
      return use === "presence" || readValue(use, previous.row, at + previous.length, lineEnd);
    }
    unlabelled ??= { row: sink.row(vocabulary.noLabels(), at, at) };
    return use === "presence" || readValue(use, unlabelled.row, at, lineEnd);
  };

  const readValue = (metric: Metric, row: Row, from: number, lineEnd: number): boolean => {
    const value = readSampleValue(bytes, from, lineEnd);
    if (value === null) return false;
    sink.sample(metric, row, value);
    return true;
  };

  /**
   * Reads the line at `start` if it is like most lines: it has the metric of the line before, and the label block that came
   * next last time. Returns the start of the next line, or -1 when the line must be read in full.
   */
  const readExpectedLine = (start: number): number => {
    const expected: SeenBlock<Row> | null = previous === null ? first : previous.next;
    if (use === "skip" || expected === null) return -1;
    const open = start + nameLength;
    const close = open + expected.length;
    if (close >= bytes.length || close - start > maxLineBytes - maxExpectedTail) return -1;
    if (bytes[open] !== byte.openBrace || !isSameRange(view, start, nameStart, nameLength)) return -1;
    if (!isSameRange(view, open, expected.start, expected.length)) return -1;
    const lineEnd = nearNewline(bytes, close);
    if (lineEnd < 0) return -1;
    previous = expected;
    if (use !== "presence" && !readValue(use, expected.row, close, lineEnd)) sink.malformed();
    return lineEnd + 1;
  };

  const readFullLine = (at: number): number => {
    const newline = bytes.indexOf(byte.newline, at);
    const lineEnd = newline < 0 ? bytes.length : newline;
    const start = skipBlanks(bytes, at, lineEnd);
    if (start < lineEnd && bytes[start] !== byte.hash) {
      const isCut = newline < 0 && !options.acceptsCutLine;
      if (isCut || lineEnd - start > maxLineBytes || !readLine(start, lineEnd)) sink.malformed();
    }
    return lineEnd + 1;
  };

  let at = 0;
  while (at < bytes.length) {
    const next = readExpectedLine(at);
    at = next < 0 ? readFullLine(at) : next;
  }
}
