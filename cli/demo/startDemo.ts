import { type Config, configSchema } from "../../exporter/config/schema.ts";
import type { Problem } from "../../exporter/model/problem.ts";
import type { Scenario } from "../../simulator/scenario.ts";
import { demoScenario } from "../../simulator/scenarios/demo.ts";
import { traceScenario } from "../../simulator/scenarios/trace.ts";
import type { Io } from "../io.ts";
import { type LedgerOutput, prepareLedger } from "../ledgerOutput.ts";
import { withhold } from "../showProblem.ts";
import { pastLedger, unpackPast } from "./past/unpackPast.ts";
import { type PlayedCluster, playCluster } from "./playCluster.ts";

/** What the demo plays. */
export interface DemoChoice {
  /** Folder with real traces; `null` plays the built-in cluster. */
  readonly traceDir: string | null;
  readonly seed: number;
}

/** A demo whose first hour has been played. */
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
/** The settings of the demo's exporter, as in its configuration file. */
export const demoSettings: Readonly<Record<string, unknown>> = {
  cluster: "harbor",
  teams: [{ from: "namespace-label", key: "team" }],
};
/** What the teams of the built-in cluster may spend in a month, USD. */
const budgets = [
  { team: "ads", perMonth: 240_000 },
  { team: "search", perMonth: 210_000 },
  { team: "vision", perMonth: 60_000 },
  { team: "notebooks", perMonth: 30_000 },
];
/**
 * How long the cluster is played before the demo begins: long enough for idle holdings to be reported as idle, and to show for
 * how long queues have been short.
 */
const historySeconds = 60 * 60;

/**
 * Starts the simulated cluster and the exporter on it, and plays their past; `null` after it has been said why there is none.
 */
export async function startDemo({ traceDir, seed }: DemoChoice, io: Io): Promise<StartedDemo | null> {
  const scenario = chooseScenario(traceDir, io);
  if (scenario === null) return null;
  const isTrace = traceDir !== null;
  io.err(`fairlead: starting a simulated cluster of ${scenario.nodes.length} nodes ...\n`);
  const past = isTrace ? null : await openPast(io);
  const config = past?.config ?? configSchema.parse({ ...demoSettings, ...(isTrace ? { cluster: "openb" } : {}) });
  const stack = past === null ? {} : { ledger: past.ledger };
  const played = await playCluster({ scenario, seed, startAt: demoStartAt, config, stack });
  const cluster = past === null ? played : { ...played, stop: () => stopBoth(played, past) };
  await playHistory(cluster, config, isTrace ? 2 * config.interval : historySeconds, io);
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

function chooseScenario(traceDir: string | null, io: Io): Scenario | null {
  if (traceDir === null) return demoScenario();
  const trace = traceScenario(traceDir);
  if (trace.ok) return trace.scenario;
  return withhold(trace.problem.message, trace.problem.nextStep, io);
}

async function playHistory(cluster: PlayedCluster, config: Config, seconds: number, io: Io): Promise<void> {
  const cycles = Math.ceil(seconds / config.interval);
  io.err(`fairlead: playing ${Math.round(seconds / 60)} minutes of its time (${cycles} cycles) ...\n`);
  await cluster.step(0);
  for (let i = 0; i < cycles; i++) await cluster.step(config.interval);
}
