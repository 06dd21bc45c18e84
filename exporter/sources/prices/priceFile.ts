import { stat } from "node:fs/promises";
import type { ConfigError } from "../../config/configError.ts";
import type { ListedPrice } from "../../model/prices.ts";
import type { Problem } from "../../model/problem.ts";
import { readPriceFile } from "./readPriceFile.ts";

/** The user's price file, read again when it changes. */
export interface PriceFileReader {
  /** Reads the file if it is not the one that was read last. Never rejects. */
  look(): Promise<void>;
  /** The last good prices; empty before the first. */
  prices(): readonly ListedPrice[];
  /** When the file was last seen to be good and as it was read, seconds since the epoch; `null`: never. */
  goodAt(): number | null;
  problems(): readonly Problem[];
}

/** What was read last, and from which state of the file. */
interface LastRead {
  readonly stamp: string | null;
  readonly prices: readonly ListedPrice[];
  readonly goodAt: number | null;
}

/** The most errors that are named in one line. */
const mostNamed = 3;

/** Watches a price file by looking at it: a mounted ConfigMap is replaced, not written. */
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

/** Changes with the file; `null` where it cannot be looked at. */
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
