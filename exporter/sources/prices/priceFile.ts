import { stat } from "node:fs/promises";
import type { ConfigError } from "../../config/configError.ts";
import type { ListedPrice } from "../../model/prices.ts";
import type { Problem } from "../../model/problem.ts";
import { readPriceFile } from "./readPriceFile.ts";

/** The user's price file, which is read again when it changes. */
export interface PriceFileReader {
  /** Reads the file if it has changed since it was last read. Never rejects. */
  look(): Promise<void>;
  /** The last good prices; empty before the first. */
  prices(): readonly ListedPrice[];
  /**
   * The last time when the file was good, whether it was read or had not changed, seconds since the epoch; `null` if there was
   * none.
   */
  goodAt(): number | null;
  problems(): readonly Problem[];
}

/** The prices that were read last, and the state of the file from which they came. */
interface LastRead {
  readonly stamp: string | null;
  readonly prices: readonly ListedPrice[];
  readonly goodAt: number | null;
}

/** The greatest number of errors that are named in one line. */
const mostNamed = 3;

/** Creates a reader that checks the state of the file instead of watching it: a mounted ConfigMap is replaced, not written. */
export function createPriceFileReader(file: string, now: () => number): PriceFileReader {
  let read: LastRead = { stamp: null, prices: [], goodAt: null };
  let errors: readonly ConfigError[] = [];
  return {
    async look() {
      const stamp = await stampOf(file);
      if (stamp !== null && stamp === read.stamp) {
        if (errors.length === 0) read = { ...read, goodAt: now() };
        return;
      }
      const found = await readPriceFile(file);
      if (found.ok) {
        read = { stamp, prices: found.value, goodAt: now() };
        errors = [];
      } else {
        read = { ...read, stamp };
        errors = found.errors;
      }
    },
    prices: () => read.prices,
    goodAt: () => read.goodAt,
    problems: () => (errors.length === 0 ? [] : [fileProblem(file, errors, read.goodAt)]),
  };
}

/** A text that changes with the file; `null` where the file is not accessible. */
async function stampOf(file: string): Promise<string | null> {
  const found = await stat(file).catch(() => null);
  return found === null ? null : `${found.mtimeMs} ${found.size} ${found.ino}`;
}

function fileProblem(file: string, errors: readonly ConfigError[], goodAt: number | null): Problem {
  const named = errors.slice(0, mostNamed).map(({ path, message }) => (path === "" ? message : `${path}: ${message}`));
  const more = errors.length > mostNamed ? `; and ${errors.length - mostNamed} more` : "";
  const effect =
    goodAt === null
      ? "none of its prices is used"
      : `the prices of ${new Date(goodAt * 1000).toISOString()} stay in use`;
  return {
    source: "prices",
    code: "price-file-invalid",
    severity: goodAt === null ? "error" : "warning",
    subject: file,
    message: `${file} cannot be used (${named.join("; ")}${more}); ${effect}`,
    nextStep: "Correct the file (prices.example.yaml shows the format); it is read again within a minute.",
  };
}
