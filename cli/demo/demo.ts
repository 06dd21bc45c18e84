import type { MetricName } from "../../exporter/catalogue/catalogue.ts";
import type { Config } from "../../exporter/config/schema.ts";
import { configSchema } from "../../exporter/config/schema.ts";
import { openWebConfig } from "../../exporter/config/webConfig.ts";
import { unassigned } from "../../exporter/join/teamOf.ts";
import { startServer } from "../../exporter/publish/http/server.ts";
import { overview } from "../../exporter/publish/terminal/overview.ts";
import type { Scenario } from "../../simulator/scenario.ts";
import { demoScenario } from "../../simulator/scenarios/demo.ts";
import { traceScenario } from "../../simulator/scenarios/trace.ts";
import type { ExitCode, Io } from "../io.ts";
import { type AccountedGpuTime, compareWithTruth } from "./compareWithTruth.ts";
import { type PlayedCluster, playCluster } from "./playCluster.ts";
import { startPrometheus } from "./prometheus.ts";

/** Options of `fairlead demo`. */
export interface DemoOptions {
  readonly once: boolean;
  /** Folder with real traces; `null` plays the built-in cluster. */
  readonly traceDir: string | null;
  readonly prometheus: boolean;
  readonly listenAddress: string;
  readonly seed: number;
  /** Simulated seconds per second. */
  readonly speed: number;
}

/** A Monday afternoon, so that the same seed gives the same table on any day. */
const startAt = Date.parse("2026-11-16T13:00:00Z") / 1000;
/** Long enough for idle holdings to be called so, and to say who has been short for how long. */
const historySeconds = 60 * 60;

/** Plays a simulated cluster behind real HTTP, and shows what the exporter finds in it. */
export async function demo(options: DemoOptions, io: Io): Promise<ExitCode> {
  const scenario = chooseScenario(options, io);
  if (scenario === null) return 1;
  const isTrace = options.traceDir !== null;
  io.err(`fairlead: starting a simulated cluster of ${scenario.nodes.length} nodes ...\n`);
  const config: Config = configSchema.parse({
    cluster: isTrace ? "openb" : "harbor",
    teams: [{ from: "namespace-label", key: "team" }],
  });
  const cluster = await playCluster({ scenario, seed: options.seed, startAt, config });
  try {
    await playHistory(cluster, config, isTrace ? 2 * config.interval : historySeconds, io);
    return options.once ? showOnce(cluster, io) : await showLive(cluster, config, options, io);
  } finally {
    await cluster.stop();
  }
}

function chooseScenario(options: DemoOptions, io: Io): Scenario | null {
  if (options.traceDir === null) return demoScenario();
  const trace = traceScenario(options.traceDir);
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

function showOnce({ simulator, stack }: PlayedCluster, io: Io): ExitCode {
  const analysis = stack.cycle.latest();
  if (analysis === null) {
    io.err("fairlead: no cycle was completed; run the demo again, and report it if it stays so\n");
    return 1;
  }
  io.out(`${overview(analysis, stack.problems(), stack.latest()?.advice)}\n\n`);
  const accounted = accountedTime(stack);
  const { numbers, differences } = compareWithTruth(analysis, simulator.truth(), unassigned, accounted);
  if (differences.length === 0) {
    const hours = (accounted.gpuSeconds / 3600).toFixed(1);
    io.out(
      `counted: ${hours} GPU-hours in ${Math.round(accounted.coveredSeconds / 60)} minutes, and the accounts close\n`,
    );
    io.out(
      `checked: ${numbers} numbers (GPUs of nodes, allocated to teams, allocated and waiting in queues, all states) equal the truth\n`,
    );
    return 0;
  }
  for (const d of differences)
    io.out(`differs from the simulator's truth: ${d.what}: found ${d.found}, really ${d.truth}\n`);
  return 1;
}

/** What the page says of the time since the start. */
function accountedTime(stack: PlayedCluster["stack"]): AccountedGpuTime {
  const sumOf = (name: MetricName): number =>
    stack
      .latest()
      ?.families.find((family) => family.name === name)
      ?.series.reduce((sum, { value }) => sum + value, 0) ?? 0;
  return {
    gpuSeconds: sumOf("fairlead_gpu_seconds_total"),
    coveredSeconds: sumOf("fairlead_covered_seconds_total"),
  };
}

async function showLive(cluster: PlayedCluster, config: Config, options: DemoOptions, io: Io): Promise<ExitCode> {
  const { stack } = cluster;
  const started = await startServer({
    handler: stack.app,
    listenAddress: options.listenAddress,
    web: openWebConfig,
    onProblem: () => {},
  });
  if (!started.ok) {
    io.err(`fairlead: ${started.error}\nNext step: ${started.nextStep}\n`);
    return 1;
  }
  const { url, close } = started.server;
  const prometheus = options.prometheus ? await startPrometheus(url) : null;
  if (options.prometheus && prometheus === null)
    io.err("fairlead: prometheus could not be started. Next step: install it (Debian: apt-get install prometheus).\n");
  const addresses = [
    `start page ${url}/   metrics ${url}/metrics   API ${url}/api/v1`,
    ...(prometheus === null ? [] : [`Prometheus ${prometheus.url}`]),
    `simulated time runs ${options.speed} times as fast; Ctrl-C ends everything`,
  ];
  let ended = false;
  void io.interrupted.then(() => {
    ended = true;
  });
  while (!ended) {
    const analysis = stack.cycle.latest();
    const clear = io.isTerminal ? "\u001b[2J\u001b[H" : "";
    if (analysis !== null)
      io.out(`${clear}${overview(analysis, stack.problems(), stack.latest()?.advice)}\n\n${addresses.join("\n")}\n`);
    await Promise.race([
      io.interrupted,
      new Promise((resolve) => setTimeout(resolve, (config.interval / options.speed) * 1000)),
    ]);
    if (!ended) await cluster.step(config.interval);
  }
  await Promise.all([close(), prometheus?.stop()]);
  return 0;
}
