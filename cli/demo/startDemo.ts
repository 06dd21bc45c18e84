import { type Config, configSchema } from "../../exporter/config/schema.ts";
import type { Scenario } from "../../simulator/scenario.ts";
import { demoScenario } from "../../simulator/scenarios/demo.ts";
import { traceScenario } from "../../simulator/scenarios/trace.ts";
import type { Io } from "../io.ts";
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
}

/** The seed of a demo that is asked for without one. */
export const defaultSeed = 1;

/** A Monday afternoon, so that the same seed gives the same table on any day. */
export const demoStartAt = Date.parse("2026-11-16T13:00:00Z") / 1000;
/** What the exporter of the demo is given, as its configuration file would. */
export const demoSettings: Readonly<Record<string, unknown>> = {
  cluster: "harbor",
  teams: [{ from: "namespace-label", key: "team" }],
};
/** Long enough for idle holdings to be called so, and to say who has been short for how long. */
const historySeconds = 60 * 60;

/** Starts the simulated cluster and the exporter on it, and plays their past; `null`: it is said why there is none. */
export async function startDemo({ traceDir, seed }: DemoChoice, io: Io): Promise<StartedDemo | null> {
  const scenario = chooseScenario(traceDir, io);
  if (scenario === null) return null;
  const isTrace = traceDir !== null;
  io.err(`fairlead: starting a simulated cluster of ${scenario.nodes.length} nodes ...\n`);
  const config: Config = configSchema.parse({ ...demoSettings, ...(isTrace ? { cluster: "openb" } : {}) });
  const cluster = await playCluster({ scenario, seed, startAt: demoStartAt, config });
  await playHistory(cluster, config, isTrace ? 2 * config.interval : historySeconds, io);
  return { cluster, config };
}

function chooseScenario(traceDir: string | null, io: Io): Scenario | null {
  if (traceDir === null) return demoScenario();
  const trace = traceScenario(traceDir);
  if (trace.ok) return trace.scenario;
  io.err(`fairlead: ${trace.problem.message}\nNext step: ${trace.problem.nextStep}\n`);
  return null;
}

async function playHistory(cluster: PlayedCluster, config: Config, seconds: number, io: Io): Promise<void> {
  const cycles = Math.ceil(seconds / config.interval);
  io.err(`fairlead: playing ${Math.round(seconds / 60)} minutes of its time (${cycles} cycles) ...\n`);
  await cluster.step(0);
  for (let i = 0; i < cycles; i++) await cluster.step(config.interval);
}
