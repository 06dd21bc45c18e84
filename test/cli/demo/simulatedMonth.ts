import { writeFileSync } from "node:fs";
import { playCluster } from "../../../cli/demo/playCluster.ts";
import { playFully } from "../../../cli/demo/playFully.ts";
import { prepareLedger } from "../../../cli/ledgerOutput.ts";
import { type Config, configSchema } from "../../../exporter/config/schema.ts";
import { monthPrices, monthScenario, warmPoolLabel } from "../../simulator/scenarios/month.ts";
import type { MonthTruth } from "../../simulator/truthRecord/monthTruth.ts";
import { createTruthRecord } from "../../simulator/truthRecord/truthRecord.ts";

/** One play of the simulated month, or of a part of it. */
export interface MonthOptions {
  readonly seed: number;
  /** Seconds since the epoch; a full hour. */
  readonly from: number;
  readonly days: number;
  /** Where the ledger is written; it must not exist. Beside it, the prices (`PATH.prices.json`) and the truth (`PATH.truth.json`). */
  readonly ledgerPath: string;
}

/** Seconds between two cycles of the exporter. */
export const monthCycleSeconds = 600;
/** Seconds between two looks at the truth, and between what can happen in the cluster. */
const fineSeconds = 120;
const day = 86_400;

/** The exporter's configuration: teams by namespace, prices from a file, budgets. */
export function monthConfig(ledgerPath: string): Config {
  return configSchema.parse({
    cluster: "month",
    interval: monthCycleSeconds,
    teams: [{ from: "namespace-label", key: "team" }],
    ledger: { path: ledgerPath },
    advice: { enabled: false },
    prices: { file: `${ledgerPath}.prices.json`, table: false },
    cost: {
      budgets: [
        { team: "ads", perMonth: 60_000 },
        { team: "search", perMonth: 40_000 },
        { team: "notebooks", perMonth: 5_000 },
      ],
    },
  });
}

/**
 * Plays the simulated month with the real exporter and a real ledger, while the simulator keeps its own record of the truth, in
 * steps finer than the exporter's cycle. Rejects when the ledger cannot be written.
 */
export async function playMonth({ seed, from, days, ledgerPath }: MonthOptions): Promise<MonthTruth> {
  const scenario = monthScenario();
  const to = from + days * day;
  writeFileSync(
    `${ledgerPath}.prices.json`,
    JSON.stringify({ currency: "USD", date: "2026-09-28", origin: "simulated", prices: monthPrices }),
  );
  const config = monthConfig(ledgerPath);
  const prepared = await prepareLedger(config);
  if (!prepared.ok) throw new Error(prepared.problem.message);
  if (prepared.output === null) throw new Error("no ledger is configured");
  const stack = { ledger: prepared.output };
  const cluster = await playCluster({ scenario, seed, startAt: from, config, stack });
  const { simulator } = cluster;
  const account = createTruthRecord({ scenario, prices: monthPrices, warmPoolLabel, from, to });
  try {
    await playFully(cluster, 0);
    while (simulator.now() < to) {
      for (let gone = fineSeconds; gone < monthCycleSeconds; gone += fineSeconds) {
        account.look(simulator.truth(), fineSeconds);
        simulator.advance(fineSeconds);
      }
      account.look(simulator.truth(), fineSeconds);
      await playFully(cluster, fineSeconds);
    }
    const truth = account.close(simulator.truth());
    writeFileSync(`${ledgerPath}.truth.json`, JSON.stringify(truth, null, 1));
    return truth;
  } finally {
    await cluster.stop();
    await prepared.output.close();
  }
}
