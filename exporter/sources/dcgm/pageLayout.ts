import type { PageRows } from "./pageRows.ts";
import type { PageShape } from "./pageShape.ts";

/**
 * What is remembered of a target's last page: its label blocks, byte by byte, and what followed from them. It holds copies, so
 * that no page stays in memory, and all numbers are beside the bytes in one buffer, because there is one layout for each node.
 * It is read with the functions below.
 */
export interface PageLayout {
  /**
   * First 16-bit numbers: the start of each block (and the end of the last), the row of each block, its successor, and the
   * first block of metrics. Then come the label blocks, in the order in which they first appeared.
   */
  readonly packed: DataView;
  readonly blockCount: number;
  /** Number of rows in the columns. */
  readonly rowCount: number;
  readonly shape: PageShape;
}

/** Size of the largest layout that is kept. An ordinary one of 8 GPUs has 3 KB, and one of 56 MIG instances 20 KB. */
const maxLayoutBytes = 32_768;
const maxBlocks = 1024;

/** Number of slots for the first blocks of metrics; a power of two. */
const firstSlots = 16;

/**
 * The layout of a page that was read in full. It is `null` where it is too large to be kept, or where the page exceeded its
 * limits: an odd page is read in full each time.
 */
export function layoutOf(page: Buffer, rows: PageRows, shape: PageShape): PageLayout | null {
  const { blocks } = rows;
  const length = blocks.reduce((sum, { from, to }) => sum + to - from, 0);
  const isOdd = rows.isCut || shape.cutRows.length > 0 || shape.hasCutClaimants || rows.rows.length === 0;
  if (isOdd || length > maxLayoutBytes || blocks.length > maxBlocks) return null;
  const tables = 2 * (3 * blocks.length + 1 + firstSlots);
  const bytes = new Uint8Array(tables + length);
  const packed = new DataView(bytes.buffer);
  let end = tables;
  for (const [block, { from, to, row }] of blocks.entries()) {
    packed.setUint16(2 * block, end);
    packed.setInt16(2 * (blocks.length + 1 + block), row);
    bytes.set(page.subarray(from, to), end);
    end += to - from;
  }
  packed.setUint16(2 * blocks.length, end);
  return { packed, blockCount: blocks.length, rowCount: rows.rows.length, shape };
}

/** The start of block `block` in `packed`; for the number after the last block, the end of the last. */
export function startOfBlock({ packed }: PageLayout, block: number): number {
  return packed.getUint16(2 * block);
}

export function lengthOfBlock(layout: PageLayout, block: number): number {
  return startOfBlock(layout, block + 1) - startOfBlock(layout, block);
}

/** The row of a block in the columns, or another value of `PageBlock.row`. */
export function rowOfBlock({ packed, blockCount }: PageLayout, block: number): number {
  return packed.getInt16(2 * (blockCount + 1 + block));
}

/** The block that last followed this one if that was not the next one. This is only a hint where to look first. */
export function successorOfBlock({ packed, blockCount }: PageLayout, block: number): number {
  return packed.getUint16(2 * (2 * blockCount + 1 + block));
}

/** Remembers which block followed a block. */
export function setSuccessorOfBlock({ packed, blockCount }: PageLayout, block: number, successor: number): void {
  packed.setUint16(2 * (2 * blockCount + 1 + block), successor);
}

/** The block with which a metric (by the hash of its name) last began. This is only a hint where to look first. */
export function firstBlockOf({ packed, blockCount }: PageLayout, hash: number): number {
  return packed.getUint16(2 * (3 * blockCount + 1 + (hash & (firstSlots - 1))));
}

/** Remembers the block with which a metric began. */
export function setFirstBlockOf({ packed, blockCount }: PageLayout, hash: number, block: number): void {
  packed.setUint16(2 * (3 * blockCount + 1 + (hash & (firstSlots - 1))), block);
}

/** The blocks by their text, with one character for each byte. */
export function blocksByText(layout: PageLayout): ReadonlyMap<string, number> {
  const found = new Map<string, number>();
  for (let block = 0; block < layout.blockCount; block += 1) {
    const bytes = Buffer.from(layout.packed.buffer, startOfBlock(layout, block), lengthOfBlock(layout, block));
    found.set(bytes.toString("latin1"), block);
  }
  return found;
}
