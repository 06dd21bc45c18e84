import { configSchema } from "../../../exporter/config/schema.ts";
import { demoPast } from "../../../simulator/scenarios/demoPast.ts";
import { prepareLedger } from "../../ledgerOutput.ts";
import { demoSettings } from "../demoPlay.ts";
import { playInMemory } from "../playInMemory.ts";
import { defaultSeed } from "../startDemo.ts";
import { pastLedger } from "./unpackPast.ts";

/** A part of the demo's past. */
export interface PastOptions {
  /** The end of the past, seconds since the epoch; it begins at `pastStartAt`. */
  readonly to: number;
  /** Where the ledger is written; it must not exist. */
  readonly ledgerPath: string;
  /** Called after each cycle with its time, seconds since the epoch. */
  readonly onCycle?: (at: number) => void;
}

/** The first day of the demo's month, so that its budgets know all days; two whole weeks follow before the week of the demo. */
export const pastStartAt = Date.parse("2026-11-01T00:00:00Z") / 1000;
/** Seconds between two cycles of the exporter. */
export const pastCycleSeconds = 300;

/**
 * Plays the demo's past with the real exporter into a ledger. The same `to` gives the same rows on any machine. Rejects when
 * the ledger cannot be written.
 */
export async function playPast({ to, ledgerPath, onCycle = () => {} }: PastOptions): Promise<void> {
  const config = configSchema.parse({ ...demoSettings, interval: pastCycleSeconds, ledger: pastLedger(ledgerPath) });
  const prepared = await prepareLedger(config);
  if (!prepared.ok) throw new Error(prepared.problem.message);
  if (prepared.output === null) throw new Error("no ledger is configured");
  const ledger = prepared.output;
  const scenario = demoPast(pastStartAt);
  const play = await playInMemory({ scenario, seed: defaultSeed, startAt: pastStartAt, config, ledger });
  try {
    for (let at = pastStartAt; at <= to; at += pastCycleSeconds) {
      await play.step(at === pastStartAt ? 0 : pastCycleSeconds);
      onCycle(at);
    }
  } finally {
    await play.stop();
    await ledger.close();
  }
}
