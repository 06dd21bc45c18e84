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
import { readConfig } from "./readConfig.ts";
import { startTracing, type Tracing } from "./tracing.ts";

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
  const log = createLog(options, io);
  const tracing = config.otlp === undefined ? null : await startTracing(config.otlp.endpoint);
  const client = createApiClient(loaded.credentials, systemClock);
  const stack = buildExporter({
    config,
    client,
    now: systemClock.now,
    telemetryPath: options.telemetryPath,
    users: web.basic_auth_users,
    onStateChange: (change) =>
      log[change.to === "synced" ? "info" : "warn"](
        { source: "kubernetes", ...change },
        `${change.kind}: ${change.from} -> ${change.to}`,
      ),
    ...(tracing === null ? {} : { runStage: tracing.runStage }),
  });
  const started = await startServer({
    handler: stack.app,
    listenAddress: options.listenAddress,
    web,
    onProblem: (message) => log.warn({ source: "http" }, message),
  });
  if (!started.ok) {
    io.err(`fairlead: ${started.error}\nNext step: ${started.nextStep}\n`);
    await client.close();
    return 1;
  }
  log.info(
    { url: started.server.url, cluster: config.cluster, api: loaded.credentials.server },
    "serving; the start page says how every source is doing",
  );
  await runUntil(stack, config, log, io.interrupted);
  log.info("ending");
  await endAll(stack, started.server.close, client.close, tracing);
  return 0;
}

async function readWebConfig(file: string | null, io: Io): Promise<WebConfig | null> {
  if (file === null) return openWebConfig;
  const loaded = await loadWebConfig(file);
  if (loaded.ok) return loaded.value;
  io.err(
    formatConfigErrors(file, loaded.errors, "Its fields are those of other Prometheus exporters' web configuration."),
  );
  return null;
}

function createLog(options: ServeOptions, io: Io): pino.Logger {
  const settings = { level: options.logLevel, base: null, timestamp: pino.stdTimeFunctions.isoTime };
  if (options.logFormat === "json") return pino(settings, { write: io.err });
  return pino(settings, pretty({ destination: 2, colorize: io.isTerminal, ignore: "pid,hostname" }));
}

/** A cycle each interval. A problem is one log line when it begins and one when it ends. */
async function runUntil(
  stack: ExporterStack,
  config: Config,
  log: pino.Logger,
  interrupted: Promise<void>,
): Promise<void> {
  let ended = false;
  void interrupted.then(() => {
    ended = true;
  });
  await Promise.race([Promise.all([stack.kubernetes.start(), stack.dcgm.start()]), interrupted]);
  let known = new Map<string, string>();
  while (!ended) {
    await stack.cycle.run();
    const now = new Map<string, string>(
      stack.problems().map((p) => [`${p.code} ${p.subject ?? ""}`, `${p.message} -> ${p.nextStep}`] as const),
    );
    for (const [key, text] of now) if (!known.has(key)) log.warn({ problem: key, msg: text });
    for (const key of known.keys()) if (!now.has(key)) log.info({ problem: key }, "over");
    known = now;
    await Promise.race([interrupted, new Promise((resolve) => setTimeout(resolve, config.interval * 1000).unref())]);
  }
}

async function endAll(
  stack: ExporterStack,
  closeServer: () => Promise<void>,
  closeClient: () => Promise<void>,
  tracing: Tracing | null,
): Promise<void> {
  await Promise.all([stack.dcgm.stop(), stack.kubernetes.stop(), closeServer()]);
  await closeClient();
  await tracing?.stop();
}
