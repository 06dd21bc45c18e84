import { formatConfigErrors } from "../exporter/config/configError.ts";
import type { Config } from "../exporter/config/schema.ts";
import type { PriceList } from "../exporter/model/prices.ts";
import { createGetPool } from "../exporter/sources/http/getPool.ts";
import type { Source } from "../exporter/sources/port.ts";
import { createPricesSource, openCostSeconds } from "../exporter/sources/prices/pricesSource.ts";
import { readPriceFile } from "../exporter/sources/prices/readPriceFile.ts";
import type { Io } from "./io.ts";

/** The number of bytes that are kept of an error's body. */
const errorBytes = 4096;

/** The price list that a configuration asks for, wired to its server; nothing runs yet. */
export function createPrices(
  settings: Config["prices"],
  now: () => number,
  monotonic: () => number,
): Source<PriceList> {
  const { openCost } = settings;
  if (openCost === undefined) return createPricesSource({ settings, now });
  const pool = createGetPool({
    timeoutSeconds: openCost.timeoutSeconds,
    maxBytes: openCost.maxAnswerBytes,
    errorBytes,
    concurrency: 1,
    backOff: { firstSeconds: openCostSeconds / 2, maxSeconds: openCostSeconds / 2 },
    accept: "application/json",
    keepAliveSeconds: openCostSeconds + 60,
    now: monotonic,
    random: Math.random,
  });
  return createPricesSource({ settings, now, pool });
}

/** The price list of a moment without a running cluster: file and table, and no server. */
export async function pricesWithoutServer(settings: Config["prices"]): Promise<PriceList> {
  const { file, table } = settings;
  const source = createPricesSource({
    settings: { table, ...(file === undefined ? {} : { file }) },
    now: () => Date.now() / 1000,
  });
  await source.start();
  await source.stop();
  return source.read();
}

/** Whether the price file that a configuration names can be used; if not, it is said what is wrong with it. */
export async function hasGoodPrices({ prices }: Config, configFile: string, io: Io): Promise<boolean> {
  if (prices.file === undefined) return true;
  const read = await readPriceFile(prices.file);
  if (read.ok) return true;
  io.err(formatConfigErrors(prices.file, read.errors, `Check with: fairlead check-config ${configFile}`));
  return false;
}
