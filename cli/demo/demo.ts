import type { MetricName } from "../../exporter/catalogue/catalogue.ts";
import { openWebConfig } from "../../exporter/config/webConfig.ts";
import { unassigned } from "../../exporter/join/teamOf.ts";
import { defaultListenAddress } from "../../exporter/publish/http/listenAddress.ts";
import { startServer } from "../../exporter/publish/http/server.ts";
import type { ExitCode, Io } from "../io.ts";
import { refuse } from "../showProblem.ts";
import { type AccountedGpuTime, compareWithTruth } from "./compareWithTruth.ts";
import type { DemoChoice } from "./demoPlay.ts";
import { startDemoPrometheus } from "./demoPrometheus.ts";
import { createShow, demoText } from "./demoShow.ts";
import type { PlayedCluster } from "./playCluster.ts";
import { defaultSeed, type StartedDemo, startDemo } from "./startDemo.ts";

/** Options of `fairlead demo`. */
export interface DemoOptions extends DemoChoice {
  readonly once: boolean;
  readonly prometheus: boolean;
  /** Whether the dashboards are shown in the browser; implies `prometheus`. */
  readonly dashboards: boolean;
  readonly listenAddress: string;
  /** Simulated seconds per second. */
  readonly speed: number;
}

/** Plays a simulated cluster behind real HTTP, and shows what the exporter finds in it. */
export async function demo(options: DemoOptions, io: Io): Promise<ExitCode> {
  const started = await startDemo(options, io);
  if (started === null) return 1;
  const { cluster } = started;
  try {
    return options.once ? showOnce(started, options, io) : await showLive(started, options, io);
  } finally {
    await cluster.stop();
  }
}

function showOnce({ cluster, config }: StartedDemo, { traceDir, scenario, seed }: DemoOptions, io: Io): ExitCode {
  const { simulator, stack } = cluster;
  const analysis = stack.cycle.latest();
  if (analysis === null) {
    io.err("fairlead: no cycle was completed; run the demo again, and report it if it stays so\n");
    return 1;
  }
  // Nothing runs any more when this is read; a command that is run next plays the same cluster again.
  const source = traceDir === null && scenario === null && seed === defaultSeed ? " --demo" : "";
  io.out(`${demoText({ stack, config, scenario }, analysis, { ...io.terminal, source })}\n\n`);
  const accounted = accountedTime(stack);
  const { numbers, differences } = compareWithTruth(analysis, simulator.truth(), unassigned, accounted);
  if (differences.length === 0) {
    const hours = (accounted.gpuSeconds / 3600).toFixed(1);
    io.out(
      `counted: ${hours} GPU-hours in ${Math.round(accounted.coveredSeconds / 60)} minutes, and the accounts close\n`,
    );
    io.out(`checked: ${numbers} numbers of nodes, teams, queues and states equal the simulator's truth\n`);
    if (scenario !== null) io.out(`${askMore}\n`);
    return 0;
  }
  for (const d of differences)
    io.out(`differs from the simulator's truth: ${d.what}: found ${d.found}, really ${d.truth}\n`);
  return 1;
}

/** The sentence for a scenario whose commands answer only while the demo runs, which it does not when this is read. */
const askMore = "Without --once the demo runs on, and its commands (explain, advise) answer in a second terminal.";

/** The GPU time and the covered time since the start, as the page shows them. */
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

async function showLive({ cluster, config, hasPast }: StartedDemo, options: DemoOptions, io: Io): Promise<ExitCode> {
  const { stack } = cluster;
  const started = await startServer({
    handler: stack.app,
    listenAddress: options.listenAddress,
    web: openWebConfig,
    onProblem: () => {},
  });
  if (!started.ok) return refuse(started.error, started.nextStep, io);
  const { url, close } = started.server;
  const { dashboards, scenario, speed } = options;
  const pace = { interval: config.interval, speed };
  const prometheus =
    options.prometheus || dashboards
      ? await startDemoPrometheus(cluster, { demoUrl: url, dashboards, ...pace }, io)
      : null;
  const end = io.openWindow === undefined ? "Ctrl-C" : "q";
  const usual = [
    `start page ${url}/   (metrics: /metrics, API: /api/v1)`,
    ...(hasPast ? [`past ${url}/review   (15 days, simulated as the cluster is, and played beforehand)`] : []),
    ...(prometheus?.lines ?? []),
    `simulated time runs ${speed} times as fast; ${end} ends everything`,
  ];
  // In 24 lines, one more would hide advice.
  const addresses = scenario !== null ? [`start page ${url}/   ${speed} times as fast; ${end} ends it`] : usual;
  const isDefault = options.listenAddress === defaultListenAddress;
  const terminal = { ...io.terminal, source: isDefault ? "" : ` --url=${url}` };
  const show = await createShow({ stack, config, scenario }, terminal, addresses, io);
  try {
    while (!show.hasEnded()) {
      show.draw();
      await Promise.race([
        show.ended,
        new Promise((resolve) => setTimeout(resolve, (config.interval / options.speed) * 1000)),
      ]);
      if (show.hasEnded()) break;
      await cluster.step(config.interval);
      await prometheus?.afterStep();
    }
  } finally {
    show.close();
  }
  await Promise.all([close(), prometheus?.stop()]);
  return 0;
}
