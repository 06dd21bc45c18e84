import { type Config, configSchema } from "../../exporter/config/schema.ts";
import type { Problem } from "../../exporter/model/problem.ts";
import type { Io } from "../io.ts";
import { type LedgerOutput, prepareLedger } from "../ledgerOutput.ts";
import { withhold } from "../showProblem.ts";
import { type DemoChoice, demoPlay, demoSettings } from "./demoPlay.ts";
import { pastLedger, unpackPast } from "./past/unpackPast.ts";
import { type PlayedCluster, playCluster } from "./playCluster.ts";

/** A demo whose first hour or two have been played. */
export interface StartedDemo {
  readonly cluster: PlayedCluster;
  readonly config: Config;
  /** Whether its ledger begins with the two weeks before it. */
  readonly hasPast: boolean;
}

/** The seed of a demo that is asked for without one. */
export const defaultSeed = 1;

/** A Monday afternoon, so that the same seed gives the same table on any day. */
export const demoStartAt = Date.parse("2026-11-16T13:00:00Z") / 1000;
/** What the teams of the built-in cluster may spend in a month, USD. */
const budgets = [
  { team: "ads", perMonth: 240_000 },
  { team: "search", perMonth: 210_000 },
  { team: "vision", perMonth: 60_000 },
  { team: "notebooks", perMonth: 30_000 },
];
/** Starts the simulated cluster and the exporter on it, and plays their past; `null` after it has been said why there is none. */
export async function startDemo(choice: DemoChoice, io: Io): Promise<StartedDemo | null> {
  const chosen = demoPlay(choice);
  if (!chosen.ok) return withhold(chosen.problem.message, chosen.problem.nextStep, io);
  const { scenario, settings, historySeconds, hasPast } = chosen.play;
  io.err(`fairlead: starting a simulated cluster of ${scenario.nodes.length} nodes ...\n`);
  const past = hasPast ? await openPast(io) : null;
  const config = past?.config ?? configSchema.parse(settings);
  const stack = past === null ? {} : { ledger: past.ledger };
  const played = await playCluster({ scenario, seed: choice.seed, startAt: demoStartAt, config, stack });
  const cluster = past === null ? played : { ...played, stop: () => stopBoth(played, past) };
  await playHistory(cluster, config, historySeconds ?? 2 * config.interval, io);
  return { cluster, config, hasPast: past !== null };
}

/** The opened ledger of a demo. */
interface OpenPast {
  /** The configuration of the demo, with this ledger and the budgets of the teams. */
  readonly config: Config;
  readonly ledger: LedgerOutput;
  remove(): void;
}

/** The past is worth having and not worth failing for: where it cannot be had, the demo begins without one and says so. */
async function openPast(io: Io): Promise<OpenPast | null> {
  const none = (why: string): null => {
    io.err(`fairlead: the demo begins without a past: ${why}\n`);
    return null;
  };
  try {
    const { ledgerPath, remove } = unpackPast();
    const config = configSchema.parse({ ...demoSettings, ledger: pastLedger(ledgerPath), cost: { budgets } });
    const prepared = await prepareLedger(config);
    if (prepared.ok && prepared.output !== null) return { config, ledger: prepared.output, remove };
    remove();
    return none(prepared.ok ? "no ledger is configured" : problemText(prepared.problem));
  } catch (error) {
    return none(error instanceof Error ? error.message : String(error));
  }
}

const problemText = ({ message, nextStep }: Problem): string => `${message} (${nextStep})`;

async function stopBoth(played: PlayedCluster, { ledger, remove }: OpenPast): Promise<void> {
  try {
    await played.stop();
    await ledger.close();
  } finally {
    remove();
  }
}

async function playHistory(cluster: PlayedCluster, config: Config, seconds: number, io: Io): Promise<void> {
  const cycles = Math.ceil(seconds / config.interval);
  io.err(`fairlead: playing ${Math.round(seconds / 60)} minutes of its time (${cycles} cycles) ...\n`);
  await cluster.step(0);
  for (let i = 0; i < cycles; i++) await cluster.step(config.interval);
}
