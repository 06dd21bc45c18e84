import type { RequestListener } from "node:http";
import type { Config } from "../exporter/config/schema.ts";
import type { StageRunner } from "../exporter/cycle.ts";
import type { FinishedStart } from "../exporter/publish/front/finished.ts";
import { missingForReadiness } from "../exporter/publish/health.ts";
import { createExportTally, type ExportTally } from "../exporter/publish/otlp/exportTally.ts";
import type { Otlp } from "../exporter/publish/otlp/otlp.ts";
import { createApiClient } from "../exporter/sources/kubernetes/apiClient.ts";
import { systemClock } from "../exporter/sources/kubernetes/clock.ts";
import { loadCredentials } from "../exporter/sources/kubernetes/credentials.ts";
import { buildExporter, type ExporterStack } from "./exporterStack.ts";
import { createKubernetesLog, type LevelLog } from "./kubernetesLog.ts";
import { type LedgerOutput, prepareLedger } from "./ledgerOutput.ts";
import { createProblemLog } from "./problemLog.ts";
import { problemText } from "./showProblem.ts";
import { firstRoundIntervals, startSources } from "./startSources.ts";
import type { ThreadSettings } from "./threadMessages.ts";
import { readVersion } from "./version.ts";

/** How an exporter is doing. */
export interface ExporterState {
  /** The time of the last complete cycle, seconds since the epoch; `null` before the first one. */
  readonly lastCycleAt: number | null;
  /** What is missing before answers are complete, in words. */
  readonly missing: readonly string[];
}

/** Callbacks that are informed about each cycle. */
export interface ExporterListener {
  readonly onPage: (page: { readonly at: number; readonly page: Buffer }) => void;
  /** Called with the start page whenever it may have changed. */
  readonly onStart: (start: FinishedStart) => void;
  /** Called whenever the state has changed. */
  readonly onState: (state: ExporterState) => void;
}

/** An exporter of a cluster that can start. */
export interface PreparedExporter {
  readonly answers: RequestListener;
  /** The address of the Kubernetes API. */
  readonly api: string;
  /** Runs cycles until it is interrupted; resolves when everything is written and closed. */
  run(interrupted: Promise<void>, listener: ExporterListener): Promise<void>;
}

export type Prepared =
  | { readonly ok: true; readonly exporter: PreparedExporter }
  | { readonly ok: false; readonly text: string };

/** The time between two looks at whether the state has changed, milliseconds. */
const lookMilliseconds = 500;

/** Opens everything that an exporter needs: credentials, ledger, OpenTelemetry output. What is missing is said in words. */
export async function prepareExporter(
  { config, telemetryPath, users, teams }: ThreadSettings,
  log: LevelLog,
): Promise<Prepared> {
  const loaded = await loadCredentials({
    kubeconfigFile: config.kubernetes.kubeconfig ?? null,
    context: config.kubernetes.context ?? null,
  });
  if (!loaded.ok) {
    // After its first line, the message of a parser quotes lines of the file, which holds credentials.
    const message = loaded.problem.message.split("\n")[0] ?? "";
    return { ok: false, text: problemText({ ...loaded.problem, message }) };
  }
  const ledger = await prepareLedger(config);
  if (!ledger.ok) return { ok: false, text: problemText(ledger.problem) };
  const otlp = prepareOtlp(config, systemClock.now);
  const client = createApiClient(loaded.credentials, systemClock);
  let showStart = (): void => {};
  const stack = buildExporter({
    onAdvice: () => showStart(),
    config,
    client,
    now: systemClock.now,
    monotonic: () => performance.now() / 1000,
    telemetryPath,
    users,
    ...(teams === undefined ? {} : { teams }),
    kubernetes: createKubernetesLog(log),
    ...(otlp === null ? {} : { runStage: otlp.runStage, otlp: otlp.tally }),
    ...(ledger.output === null ? {} : { ledger: ledger.output }),
  });
  const run: PreparedExporter["run"] = async (interrupted, listener) => {
    showStart = () => listener.onStart(stack.startPage());
    const watched = watchState(stack, (state) => {
      listener.onState(state);
      showStart();
    });
    await otlp?.start(stack);
    await runUntil(stack, config.interval, {
      log,
      otlp,
      interrupted,
      onPage: listener.onPage,
      onCycle: watched.look,
    });
    log.info({}, "ending");
    watched.stop();
    await endAll(stack, client.close, otlp, ledger.output);
    for (const { code, message } of ledger.output?.problems() ?? []) log.warn({ problem: code }, message);
  };
  return { ok: true, exporter: { answers: stack.answers, api: loaded.credentials.server, run } };
}

/** Reports the state whenever it has changed; once nothing is missing, it only changes with a cycle. */
function watchState(
  { health }: Pick<ExporterStack, "health">,
  onState: ExporterListener["onState"],
): { readonly look: () => void; readonly stop: () => void } {
  let last = "";
  let isReady = false;
  const look = (): void => {
    const known = health();
    const state = { lastCycleAt: known.lastCycleAt, missing: missingForReadiness(known) };
    const text = JSON.stringify([state, known.problems.map(({ message }) => message)]);
    if (text !== last) onState(state);
    last = text;
    isReady = state.missing.length === 0;
  };
  const timer = setInterval(() => {
    if (!isReady) look();
  }, lookMilliseconds);
  return { look, stop: () => clearInterval(timer) };
}

interface Run extends Pick<ExporterListener, "onPage"> {
  readonly log: LevelLog;
  readonly otlp: OtlpOutput | null;
  readonly interrupted: Promise<void>;
  readonly onCycle: () => void;
}

/**
 * Runs a cycle each interval, the first when telemetry has arrived (`startSources`). A problem is logged when it begins and
 * when it ends.
 */
async function runUntil(
  stack: ExporterStack,
  intervalSeconds: number,
  { log, otlp, interrupted, onPage, onCycle }: Run,
): Promise<void> {
  let ended = false;
  void interrupted.then(() => {
    ended = true;
  });
  const boundSeconds = firstRoundIntervals * intervalSeconds;
  await Promise.race([startSources(stack, { boundSeconds, isEnding: () => ended }), interrupted]);
  const reportProblems = createProblemLog(log);
  let reported: unknown = null;
  while (!ended) {
    await (otlp === null ? stack.cycle.run() : otlp.runCycle(stack.cycle.run));
    const latest = stack.latest();
    if (latest !== null && latest !== reported) onPage(latest);
    reported = latest;
    onCycle();
    reportProblems(stack.problems());
    await Promise.race([interrupted, new Promise((resolve) => setTimeout(resolve, intervalSeconds * 1000).unref())]);
  }
}

async function endAll(
  stack: ExporterStack,
  closeClient: () => Promise<void>,
  otlp: OtlpOutput | null,
  ledger: LedgerOutput | null,
): Promise<void> {
  const sources = Promise.all([
    stack.dcgm.stop(),
    stack.kubernetes.stop(),
    stack.prices.stop(),
    stack.closeHistory(),
    otlp?.stop(),
  ]);
  await Promise.all([sources.then(closeClient), ledger?.close()]);
}

/** OpenTelemetry output beside an exporter. Until it is started it only passes cycles and stages on. */
interface OtlpOutput {
  readonly tally: ExportTally;
  readonly runStage: StageRunner;
  runCycle(work: () => Promise<void>): Promise<void>;
  /** Starts to export what the stack publishes. */
  start(stack: ExporterStack): Promise<void>;
  /** Exports what is left, within a bounded time. */
  stop(): Promise<void>;
}

/** Prepares OpenTelemetry output; `null` where none is configured. The SDK is loaded when it starts. */
function prepareOtlp(config: Config, now: () => number): OtlpOutput | null {
  const settings = config.otlp;
  if (settings === undefined) return null;
  const { origin, pathname } = new URL(settings.endpoint);
  const tally = createExportTally(`${origin}${pathname === "/" ? "" : pathname}`);
  let otlp: Otlp | null = null;
  return {
    tally,
    runStage: async (stage, work) => {
      const tracing = otlp?.tracing ?? null;
      return tracing === null ? await work() : await tracing.runStage(stage, work);
    },
    runCycle: async (work) => {
      const tracing = otlp?.tracing ?? null;
      await (tracing === null ? work() : tracing.runCycle(work));
    },
    start: async (stack) => {
      const { startOtlp } = await import("../exporter/publish/otlp/otlp.ts");
      const { latest, health } = stack;
      const published = { latest, health, limits: config.limits, now };
      otlp = startOtlp({ config: settings, cluster: config.cluster, version: readVersion(), published, tally });
    },
    stop: async () => {
      await otlp?.stop();
      otlp = null;
    },
  };
}
