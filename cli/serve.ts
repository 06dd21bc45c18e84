import { pino } from "pino";
import pretty from "pino-pretty";
import { formatConfigErrors } from "../exporter/config/configError.ts";
import { defaultConfig } from "../exporter/config/defaults.ts";
import type { Config } from "../exporter/config/schema.ts";
import { loadWebConfig, openWebConfig, type WebConfig } from "../exporter/config/webConfig.ts";
import { startServer } from "../exporter/publish/http/server.ts";
import { createApiClient } from "../exporter/sources/kubernetes/apiClient.ts";
import { systemClock } from "../exporter/sources/kubernetes/clock.ts";
import { loadCredentials } from "../exporter/sources/kubernetes/credentials.ts";
import { buildExporter, type ExporterStack } from "./exporterStack.ts";
import type { ExitCode, Io } from "./io.ts";
import { createKubernetesLog } from "./kubernetesLog.ts";
import { showProblem } from "./ledger/showProblem.ts";
import { prepareLedger } from "./ledgerOutput.ts";
import { type OtlpOutput, prepareOtlp } from "./otlpOutput.ts";
import { createProblemLog } from "./problemLog.ts";
import { readConfig } from "./readConfig.ts";
import { firstRoundIntervals, startSources } from "./startSources.ts";

/** Options of `fairlead serve`; the flags are those of other Prometheus exporters. */
export interface ServeOptions {
  readonly configFile: string | null;
  readonly listenAddress: string;
  readonly telemetryPath: string;
  readonly webConfigFile: string | null;
  readonly logLevel: "debug" | "info" | "warn" | "error";
  readonly logFormat: "json" | "pretty";
}

/** Watches a cluster and serves its answers until it is told to end. */
export async function serve(options: ServeOptions, io: Io): Promise<ExitCode> {
  const config = options.configFile === null ? defaultConfig : await readConfig(options.configFile, io);
  const web = config === null ? null : await readWebConfig(options.webConfigFile, io);
  if (config === null || web === null) return 1;
  const loaded = await loadCredentials({
    kubeconfigFile: config.kubernetes.kubeconfig ?? null,
    context: config.kubernetes.context ?? null,
  });
  if (!loaded.ok) {
    // A parser's message goes on with lines of the file, which holds credentials.
    io.err(`fairlead: ${loaded.problem.message.split("\n")[0] ?? ""}\nNext step: ${loaded.problem.nextStep}\n`);
    return 1;
  }
  const ledger = await prepareLedger(config);
  if (!ledger.ok) return showProblem(ledger.problem, io);
  const log = createLog(options, io);
  const otlp = prepareOtlp(config, systemClock.now);
  const client = createApiClient(loaded.credentials, systemClock);
  const stack = buildExporter({
    config,
    client,
    now: systemClock.now,
    monotonic: () => performance.now() / 1000,
    telemetryPath: options.telemetryPath,
    users: web.basic_auth_users,
    ...(web.teams === undefined ? {} : { teams: web.teams }),
    kubernetes: createKubernetesLog(log),
    ...(otlp === null ? {} : { runStage: otlp.runStage, otlp: otlp.tally }),
    ...(ledger.output === null ? {} : { ledger: ledger.output }),
  });
  const started = await startServer({
    handler: stack.app,
    listenAddress: options.listenAddress,
    web,
    onProblem: (message) => log.warn({ source: "http" }, message),
  });
  if (!started.ok) {
    io.err(`fairlead: ${started.error}\nNext step: ${started.nextStep}\n`);
    await Promise.all([client.close(), ledger.output?.close()]);
    return 1;
  }
  log.info(
    { url: started.server.url, cluster: config.cluster, api: loaded.credentials.server },
    "serving; the start page says how every source is doing",
  );
  await otlp?.start(stack);
  await runUntil(stack, config, log, otlp, io.interrupted);
  log.info("ending");
  await Promise.all([endAll(stack, started.server.close, client.close, otlp), ledger.output?.close()]);
  for (const problem of ledger.output?.problems() ?? []) log.warn({ problem: problem.code }, problem.message);
  return 0;
}

async function readWebConfig(file: string | null, io: Io): Promise<WebConfig | null> {
  if (file === null) return openWebConfig;
  const loaded = await loadWebConfig(file);
  if (loaded.ok) return loaded.value;
  io.err(
    formatConfigErrors(
      file,
      loaded.errors,
      "Its fields are those of other Prometheus exporters' web configuration, and Fairlead's own: teams.",
    ),
  );
  return null;
}

function createLog(options: ServeOptions, io: Io): pino.Logger {
  const settings = { level: options.logLevel, base: null, timestamp: pino.stdTimeFunctions.isoTime };
  if (options.logFormat === "json") return pino(settings, { write: io.err });
  return pino(settings, pretty({ destination: 2, colorize: io.isTerminal, ignore: "pid,hostname" }));
}

/** A cycle each interval, the first when telemetry is in (`startSources`). A problem is one log line when it begins and one when it ends. */
async function runUntil(
  stack: ExporterStack,
  config: Config,
  log: pino.Logger,
  otlp: OtlpOutput | null,
  interrupted: Promise<void>,
): Promise<void> {
  let ended = false;
  void interrupted.then(() => {
    ended = true;
  });
  const boundSeconds = firstRoundIntervals * config.interval;
  await Promise.race([startSources(stack, { boundSeconds, isEnding: () => ended }), interrupted]);
  const tellProblems = createProblemLog(log);
  while (!ended) {
    await (otlp === null ? stack.cycle.run() : otlp.runCycle(stack.cycle.run));
    tellProblems(stack.problems());
    await Promise.race([interrupted, new Promise((resolve) => setTimeout(resolve, config.interval * 1000).unref())]);
  }
}

async function endAll(
  stack: ExporterStack,
  closeServer: () => Promise<void>,
  closeClient: () => Promise<void>,
  otlp: OtlpOutput | null,
): Promise<void> {
  await Promise.all([
    stack.dcgm.stop(),
    stack.kubernetes.stop(),
    stack.prices.stop(),
    stack.closeHistory(),
    closeServer(),
    otlp?.stop(),
  ]);
  await closeClient();
}
