import type { Config } from "../../config/schema.ts";
import type { ListedPrice, PriceList } from "../../model/prices.ts";
import type { GetPool } from "../http/getPool.ts";
import { freshnessOf, type Source } from "../port.ts";
import { createOpenCostReader } from "./openCost.ts";
import { createPriceFileReader } from "./priceFile.ts";
import { tablePrices } from "./table.ts";

/** The options of the source of prices. */
export interface PricesSourceOptions {
  /** The part `prices` of the configuration. */
  readonly settings: Pick<Config["prices"], "file" | "table" | "openCost">;
  /** Sends requests to OpenCost's server; the source owns the pool and closes it on `stop`. Needed only with `openCost`. */
  readonly pool?: GetPool;
  /** The current time, seconds since the epoch. */
  readonly now: () => number;
  readonly schedule?: (seconds: number, callback: () => void) => () => void;
}

/** Seconds between two checks of the file. */
export const fileSeconds = 60;
/** Seconds between two requests to OpenCost. */
export const openCostSeconds = 300;

/** A file that has not been checked successfully for this long is not fresh; its last good prices stay in use. */
const fileFreshSeconds = 3 * fileSeconds;

/**
 * The price list: the user's file, OpenCost by way of a Prometheus server, and Fairlead's own table, as far as the
 * configuration asks for them. The table is available before `start`.
 */
export function createPricesSource(options: PricesSourceOptions): Source<PriceList> {
  const { settings, now, pool } = options;
  const schedule = options.schedule ?? scheduleOnMachine;
  const file = settings.file === undefined ? null : createPriceFileReader(settings.file, now);
  const openCost =
    settings.openCost === undefined || pool === undefined ? null : createOpenCostReader(settings.openCost, pool, now);
  const table = settings.table ? tablePrices : [];
  const quotedCurrency = settings.openCost?.currency ?? "USD";
  const cancels = new Map<string, () => void>();
  let isRunning = false;
  let last: { readonly own: readonly ListedPrice[]; readonly account: PriceList } | null = null;

  const repeat = async (name: string, seconds: number, work: () => Promise<void>): Promise<void> => {
    await work();
    if (isRunning)
      cancels.set(
        name,
        schedule(seconds, () => void repeat(name, seconds, work)),
      );
  };

  return {
    name: "prices",
    start: async () => {
      isRunning = true;
      await Promise.all([
        file === null ? null : repeat("file", fileSeconds, file.look),
        openCost === null ? null : repeat("openCost", openCostSeconds, openCost.ask),
      ]);
    },
    stop: async () => {
      isRunning = false;
      for (const cancel of cancels.values()) cancel();
      cancels.clear();
      await openCost?.close();
    },
    read: () => {
      const own = file?.prices() ?? noneListed;
      const quoted = openCost?.quoted() ?? noQuotes;
      if (last !== null && last.own === own && last.account.quoted === quoted) return last.account;
      last = { own, account: { listed: [...own, ...table], quoted, quotedCurrency } };
      return last.account;
    },
    freshness: () => [
      ...(file === null ? [] : [freshnessOf("file", file.goodAt(), now(), fileFreshSeconds)]),
      ...(openCost === null ? [] : [openCost.freshness()]),
    ],
    problems: () => [...(file?.problems() ?? []), ...(openCost?.problems() ?? [])],
  };
}

const noQuotes: PriceList["quoted"] = new Map();
const noneListed: readonly ListedPrice[] = [];

function scheduleOnMachine(seconds: number, callback: () => void): () => void {
  const timer = setTimeout(callback, seconds * 1000);
  timer.unref();
  return () => clearTimeout(timer);
}
