import express, { type Express } from "express";
import { openWebConfig } from "../../exporter/config/webConfig.ts";
import { type RunningServer, startServer } from "../../exporter/publish/http/server.ts";
import { prometheusContentType } from "../../exporter/publish/prometheus/render.ts";
import type { Io } from "../io.ts";
import { createAdviceDoer, outsideOf } from "./boards/carryOut.ts";
import { type PreparedBoards, prepareBoards } from "./boards/startBoards.ts";
import { alertPaceText, demoAlerts, demoRuleFiles, type PlayedPace, stepSeconds } from "./demoRules.ts";
import type { PlayedCluster } from "./playCluster.ts";
import { type RunningPrometheus, startPrometheus } from "./prometheus.ts";
import { createServerTime } from "./serverTime.ts";

/** Options of a Prometheus beside the demo. */
export interface DemoPrometheusOptions extends PlayedPace {
  /** The address of the demo. */
  readonly demoUrl: string;
  /** Whether its dashboards are served as pages, too. */
  readonly dashboards: boolean;
}

/** A Prometheus that scrapes the demo and evaluates its rules, and the dashboards on it. */
export interface DemoPrometheus {
  /** Lines that say what is running and where. */
  readonly lines: readonly string[];
  /** Addresses of Prometheus and of the dashboards; the latter is `null` where they are not served. */
  readonly url: string;
  readonly boardsUrl: string | null;
  /** Passes on the cycle that has just ended, and takes the next steps of advice that is being carried out. */
  afterStep(): Promise<void>;
  stop(): Promise<void>;
}

const notInstalled =
  "prometheus could not be started. Next step: install it (Debian: apt-get install prometheus), and run the demo again.";

/**
 * Starts all of it on the loopback address, and reports what is missing, with the next step; `null` if there is no Prometheus.
 */
export async function startDemoPrometheus(
  cluster: PlayedCluster,
  { demoUrl, dashboards, ...pace }: DemoPrometheusOptions,
  io: Pick<Io, "err">,
): Promise<DemoPrometheus | null> {
  const say = (line: string): void => io.err(`fairlead: ${line}\n`);
  const { stack, simulator } = cluster;
  const alerts = demoAlerts(pace, demoUrl);
  const scraped = createScraped(cluster, pace.speed);
  const seconds = stepSeconds(pace);
  const scrape = await listenHere(scraped.app);
  const prometheus =
    scrape === null
      ? null
      : await startPrometheus({ url: `${scrape.url}/metrics`, seconds, rules: demoRuleFiles(alerts) });
  if (prometheus === null) {
    say(dashboards ? `${notInstalled} Without it there are no dashboards.` : notInstalled);
    await scrape?.close();
    return null;
  }
  const doer = createAdviceDoer(outsideOf(cluster));
  const recommendations = () => stack.latest()?.advice.recommendations ?? [];
  const input = { stepSeconds: seconds, speed: pace.speed, simulatedNow: simulator.now, recommendations, doer };
  const boards = dashboards
    ? await prepareBoards({ ...input, prometheus: prometheus.url, alerts, say }).catch((error: unknown) => {
        say(`the dashboards cannot be shown: ${error instanceof Error ? error.message : String(error)}`);
        return null;
      })
    : null;
  const shown = boards === null ? null : await listenHere(boards.app);
  return {
    lines: [
      `Prometheus ${prometheus.url} (rules and alerts: ${prometheus.url}/alerts)`,
      alertPaceText(alerts, pace.speed),
      ...(shown === null ? [] : [`dashboards ${shown.url}/`]),
    ],
    url: prometheus.url,
    boardsUrl: shown?.url ?? null,
    async afterStep() {
      scraped.look();
      await doer.goOn(simulator.now());
    },
    stop: () => stopAll(prometheus, [scrape, shown], boards),
  };
}

async function stopAll(
  prometheus: RunningPrometheus,
  servers: readonly (RunningServer | null)[],
  boards: PreparedBoards | null,
): Promise<void> {
  await Promise.all([prometheus.stop(), ...servers.map((server) => server?.close()), boards?.remove()]);
}

async function listenHere(handler: Express): Promise<RunningServer | null> {
  const options = { handler, listenAddress: "127.0.0.1:0", web: openWebConfig, onProblem: () => {} };
  const started = await startServer(options);
  return started.ok ? started.server : null;
}

/** The page of metrics for a server whose clock is this machine's. */
function createScraped({ stack }: PlayedCluster, speed: number): { readonly app: Express; look(): void } {
  const inServerTime = createServerTime(speed);
  let page = "";
  const look = (): void => {
    const latest = stack.latest();
    if (latest !== null)
      page = inServerTime({ text: latest.page.toString("utf8"), simulatedAt: latest.at, at: Date.now() / 1000 });
  };
  look();
  const app = express();
  app.disable("x-powered-by");
  app.get("/metrics", (_request, response) => void response.set("Content-Type", prometheusContentType).end(page));
  return { app, look };
}
