import { pino } from "pino";
import pretty from "pino-pretty";
import { formatConfigErrors } from "../exporter/config/configError.ts";
import { defaultConfig } from "../exporter/config/defaults.ts";
import type { Config } from "../exporter/config/schema.ts";
import { loadWebConfig, openWebConfig, type WebConfig } from "../exporter/config/webConfig.ts";
import { forward } from "../exporter/publish/front/forward.ts";
import { createFront } from "../exporter/publish/front/front.ts";
import { startProbeServer } from "../exporter/publish/front/probes.ts";
import { type RunningServer, startServer } from "../exporter/publish/http/server.ts";
import { type ExporterLink, startExporter } from "./exporterLink.ts";
import type { ExitCode, Io } from "./io.ts";
import { ownHosts } from "./ownHosts.ts";
import { readConfig } from "./readConfig.ts";
import { problemText } from "./showProblem.ts";

/** Options of `fairlead serve`; the flags are those of other Prometheus exporters. */
export interface ServeOptions {
  readonly configFile: string | null;
  readonly listenAddress: string;
  /** An additional address for probes; `null`: there is none. */
  readonly probeAddress: string | null;
  readonly telemetryPath: string;
  readonly webConfigFile: string | null;
  readonly logLevel: "debug" | "info" | "warn" | "error";
  readonly logFormat: "json" | "pretty";
}

/**
 * Watches a cluster and serves its answers until it is asked to end. This thread only speaks with the network; the exporter has
 * a thread of its own. If that thread ends, there is nothing to serve, and the process ends, so that its supervisor starts it
 * again.
 */
export async function serve(options: ServeOptions, io: Io): Promise<ExitCode> {
  const { telemetryPath } = options;
  const config = options.configFile === null ? defaultConfig : await readConfig(options.configFile, io);
  const web = config === null ? null : await readWebConfig(options.webConfigFile, io);
  if (config === null || web === null) return 1;
  const { basic_auth_users: users, teams } = web;
  const log = createLog(options, io);
  const exporter = startExporter({ config, telemetryPath, users, teams }, log, wallSeconds, monotonicSeconds);
  const prepared = await exporter.prepared;
  if (!prepared.ok) {
    await exporter.ended;
    io.err(prepared.text);
    return 1;
  }
  const listening = await listen(options, config, web, exporter, log);
  if (!listening.ok) {
    io.err(problemText({ message: listening.error, nextStep: listening.nextStep }));
    await endExporter(exporter);
    return 1;
  }
  log.info(
    { url: listening.servers[0]?.url, cluster: config.cluster, api: prepared.api },
    "serving; the start page says how every source is doing",
  );
  exporter.start();
  await Promise.race([io.interrupted, exporter.ended]);
  const [fault] = await Promise.all([endExporter(exporter), ...listening.servers.map(({ close }) => close())]);
  if (fault === null) return 0;
  log.error({ source: "cycle" }, `ending: ${fault}`);
  return 1;
}

type Listening =
  | { readonly ok: true; readonly servers: readonly RunningServer[] }
  | Extract<Awaited<ReturnType<typeof startServer>>, { ok: false }>;

/** Listens for questions, and for probes where they have an address of their own. */
async function listen(
  { listenAddress, probeAddress, telemetryPath }: ServeOptions,
  config: Config,
  web: WebConfig,
  { finished, ask }: ExporterLink,
  log: pino.Logger,
): Promise<Listening> {
  const { basic_auth_users: users, teams } = web;
  // With a password or TLS, hosts need no check: a stranger's page has neither the password nor a certificate for its own name.
  const isOpen = Object.keys(users).length === 0 && web.tls_server_config === undefined;
  const hosts = isOpen ? await ownHosts(listenAddress, config.web.allowedHosts) : null;
  const main = await startServer({
    handler: createFront({ finished, answers: forward(ask), telemetryPath, users, teams, hosts }),
    listenAddress,
    web,
    onProblem: (message) => log.warn({ source: "http" }, message),
  });
  if (!main.ok || probeAddress === null) return main.ok ? { ok: true, servers: [main.server] } : main;
  const probe = await startProbeServer(probeAddress, finished);
  if (probe.ok) return { ok: true, servers: [main.server, probe.server] };
  await main.server.close();
  return probe;
}

const wallSeconds = (): number => Date.now() / 1000;
const monotonicSeconds = (): number => performance.now() / 1000;

async function endExporter({ end, ended }: ExporterLink): Promise<string | null> {
  end();
  return await ended;
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
