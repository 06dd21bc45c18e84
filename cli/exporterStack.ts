import { createLedgerCopies } from "../exporter/accounts/ledger/ledgerCopies.ts";
import { createAdviser } from "../exporter/advice/adviser.ts";
import { habitsIn } from "../exporter/advice/usage/habitRows.ts";
import type { Config } from "../exporter/config/schema.ts";
import { type Cycle, createCycle, type StageRunner } from "../exporter/cycle.ts";
import { type BudgetWatch, createBudgetWatch } from "../exporter/history/budgetWatch.ts";
import type { History } from "../exporter/history/history.ts";
import { createLedgerHistory } from "../exporter/history/ledgerHistory.ts";
import type { PriceList } from "../exporter/model/prices.ts";
import type { Problem } from "../exporter/model/problem.ts";
import { explain } from "../exporter/publish/explain/explain.ts";
import type { FinishedStart } from "../exporter/publish/front/finished.ts";
import type { Health, KindReads } from "../exporter/publish/health.ts";
import { createAnswers, createApp, startPageOf } from "../exporter/publish/http/app.ts";
import type { Outputs } from "../exporter/publish/http/outputs.ts";
import type { ExportTally } from "../exporter/publish/otlp/exportTally.ts";
import type { RenderCache } from "../exporter/publish/prometheus/render.ts";
import { buildPublication, createProcessMetrics, type Publication } from "../exporter/publish/publication.ts";
import type { GetPool } from "../exporter/sources/http/getPool.ts";
import type { ApiClient } from "../exporter/sources/kubernetes/apiClient.ts";
import {
  createKubernetesSource,
  type KubernetesSource,
  type KubernetesSourceOptions,
} from "../exporter/sources/kubernetes/kubernetesSource.ts";
import type { SettingsPlaces } from "../exporter/sources/kubernetes/queues/schedulerSettings.ts";
import type { Source } from "../exporter/sources/port.ts";
import { configuredHistory } from "./history/historySource.ts";
import { labelsInRules } from "./labelsInRules.ts";
import type { LedgerOutput } from "./ledgerOutput.ts";
import { createPrices } from "./prices.ts";
import { createReviewOutput } from "./review/reviewOutput.ts";
import { readRunbooks } from "./runbooks.ts";
import { createSteadyClock } from "./steadyClock.ts";
import { createTelemetrySources, type TelemetrySources } from "./telemetrySources.ts";
import { readVersion } from "./version.ts";

/** What an exporter needs from outside, so that the same one runs on a cluster and on a simulation. */
export interface StackOptions {
  readonly config: Config;
  readonly client: ApiClient;
  /** Seconds since the epoch. */
  readonly now: () => number;
  /** Seconds on a clock that is never set. */
  readonly monotonic: () => number;
  readonly telemetryPath: string;
  /** Users and bcrypt hashes of the web configuration. */
  readonly users: Readonly<Record<string, string>>;
  /** The teams whose data alone a user may see, by user; default: nobody's view is limited. */
  readonly teams?: Readonly<Record<string, readonly string[]>>;
  /** How the Kubernetes API is read, as far as the configuration does not decide it, and callbacks about it. */
  readonly kubernetes?: Pick<
    KubernetesSourceOptions,
    "clock" | "ownerClock" | "random" | "slowAnswerSeconds" | "ownerLimits" | "onStateChange" | "onRestart"
  >;
  /** Gets the exporters' pages; default: by HTTP. */
  readonly pages?: GetPool;
  /** Gets the pages of servers; default: by HTTP. */
  readonly servingPages?: GetPool;
  readonly runStage?: StageRunner;
  /** The ledger; absent when none is kept. */
  readonly ledger?: LedgerOutput;
  /** Called when someone has dismissed or taken advice between two cycles. */
  readonly onAdvice?: () => void;
  /** Counts the exports by OTLP; absent without OpenTelemetry output. */
  readonly otlp?: ExportTally;
}

/** The connected sources, cycle and outputs of an exporter; nothing runs yet. */
export interface ExporterStack {
  readonly kubernetes: KubernetesSource;
  readonly dcgm: TelemetrySources;
  readonly prices: Source<PriceList>;
  /** Answers questions about the past; `null` when it is not kept. */
  readonly history: History | null;
  readonly budgets: BudgetWatch;
  /** Ends the questions about the past that are under way. */
  readonly closeHistory: () => Promise<void>;
  readonly cycle: Cycle;
  /** The whole HTTP side, for exporters that are driven by hand in one thread. */
  readonly app: ReturnType<typeof createApp>;
  /** The part of `app` that is computed when it is asked for. */
  readonly answers: ReturnType<typeof createAnswers>;
  /** The start page as of now. */
  readonly startPage: () => FinishedStart;
  readonly latest: () => Publication | null;
  /** Fairlead's own health, OpenTelemetry output included. */
  readonly health: () => Health;
  /** All problems at present, those of publishing included. */
  readonly problems: () => readonly Problem[];
}

/** Where monitors are read: nowhere unless the configuration says so. */
function monitorPlaces({ monitors, discovery }: Config["serving"]) {
  if (!monitors.enabled || discovery.length === 0) return {};
  const ofPods = [...new Set(discovery.flatMap(({ namespaces }) => namespaces))];
  return { monitors: { ofPods, others: monitors.namespaces } };
}

/** Builds the exporter: the only place that knows all of its parts. */
export function buildExporter(options: StackOptions): ExporterStack {
  const { config, client, now } = options;
  const autoscaler = config.clusterAutoscaler.statusConfigMap;
  const kubernetes = createKubernetesSource({
    client,
    exporters: [
      ...config.dcgm.discovery,
      ...config.dcgm.podProcesses.map((selector) => ({ ...selector, isOfProcesses: true })),
    ],
    servers: config.serving.discovery,
    ...monitorPlaces(config.serving),
    gpuResources: Object.keys(config.gpu.resources),
    readLabels: labelsInRules(config),
    maxAgeSeconds: config.kubernetes.maxAgeSeconds,
    kaiNodePoolLabel: config.queues.kai.nodePoolLabel,
    schedulerSettings: settingsPlaces(config.queues),
    ...(autoscaler === undefined ? {} : { autoscalerStatus: autoscaler }),
    timing: { pageSize: config.kubernetes.pageSize, silenceSeconds: config.kubernetes.silenceSeconds },
    ...options.kubernetes,
  });
  const dcgm = createTelemetrySources(config, kubernetes, now, options.monotonic, options.pages, options.servingPages);
  const prices = createPrices(config.prices, now, options.monotonic);
  const answersClock = createSteadyClock(now, options.monotonic);
  const processMetrics = createProcessMetrics(config.cluster);
  const past = configuredHistory(config, options.ledger?.accounts.query ?? null, now, options.monotonic);
  const budgets = createBudgetWatch(config.cost, past?.history ?? null, now);
  let publication: Publication | null = null;
  const rendered: RenderCache = new Map();
  const { ledger } = options;
  const withOutputs = (own: Health): Health => {
    const known = { ...own, kubernetesReads: kubernetesReads(kubernetes) };
    const problems = [...known.problems, ...budgets.problems()];
    return options.otlp === undefined
      ? { ...known, problems }
      : { ...known, otlp: options.otlp.counts(), problems: [...problems, ...options.otlp.problems()] };
  };
  const adviser = createAdviser(
    config.advice,
    config.interval,
    ledger?.advice ?? [],
    habitsIn(ledger?.remembered ?? []),
  );
  const cycle = createCycle({
    config,
    version: readVersion(),
    kubernetes,
    dcgm: dcgm.sources,
    serving: dcgm.serving,
    prices,
    now,
    monotonic: options.monotonic,
    publish: async (analysis, health, accounts, advice) => {
      const text = await processMetrics();
      publication = buildPublication(
        {
          analysis,
          health: withOutputs(health),
          limits: { ...config.limits, cost: config.cost, topRecommendations: config.advice.topSeries },
          accounts,
          budgets: budgets.latest(),
          advice,
        },
        text,
        rendered,
      );
      answersClock.setToWall();
      // This runs beside the cycle: a slow server must not hold it up.
      void budgets.refreshWhenDue();
    },
    adviser,
    ...(options.runStage === undefined ? {} : { runStage: options.runStage }),
    ...(ledger === undefined
      ? {}
      : {
          memory: ledger.memory,
          remembered: ledger.remembered,
          endedShapes: ledger.endedShapes,
          idleTime: ledger.idleTime,
          onStep: ledger.onStep,
        }),
  });
  const health = () => {
    const known = withOutputs(cycle.health());
    return ledger === undefined ? known : { ...known, problems: [...known.problems, ...ledger.problems()] };
  };
  const problems = () => [...health().problems, ...(publication?.problems ?? [])];
  const explainLatest: Outputs["explain"] = (kind, name) => {
    const analysis = cycle.latest();
    return analysis === null
      ? null
      : explain(kind, name, {
          analysis,
          settings: config,
          problems: problems(),
          accountedTime: cycle.accountedTime(),
          servedWork: cycle.servedWork(),
          pastStarts: cycle.pastStarts(),
        });
  };
  const shown = (isDone: boolean): boolean => {
    if (isDone) options.onAdvice?.();
    return isDone;
  };
  const outputs: Outputs = {
    cluster: config.cluster,
    latest: () => publication,
    health,
    explain: explainLatest,
    now: answersClock.now,
    limits: config.limits,
    processMetrics,
    telemetryPath: options.telemetryPath,
    users: options.users,
    ...(options.teams === undefined ? {} : { teams: options.teams }),
    budgets: budgets.latest,
    runbooks: readRunbooks(),
    adviser: {
      latest: adviser.latest,
      dismiss: (id, by, reason) => shown(adviser.dismiss(id, by, reason, now())),
      take: (id, by) => shown(adviser.take(id, by, now())),
      // A fault in here occurs in the next cycle, too, which reports it.
      receive: (alerts) => {
        try {
          return adviser.receive(alerts, now());
        } catch {
          return adviser.latest();
        }
      },
    },
    ...(past === null ? {} : { past: { history: past.history, notCharged: config.cost.notCharged } }),
    ...(ledger === undefined
      ? {}
      : {
          ledger: ledger.accounts.query,
          ledgerTables: ledger.accounts.queryLedgerTable,
          ledgerPrices: ledger.accounts.queryPrices,
        }),
    ...(ledger === undefined || config.ledger === undefined
      ? {}
      : { ledgerBackup: createLedgerCopies(config.ledger.path) }),
    ...reviewOutputOf(config, ledger?.accounts ?? null, past?.history ?? null, answersClock.now),
  };
  const answers = createAnswers(outputs);
  return {
    kubernetes,
    dcgm,
    prices,
    history: past?.history ?? null,
    budgets,
    closeHistory: async () => await past?.close(),
    cycle,
    app: createApp(outputs, answers),
    answers,
    startPage: () => startPageOf(outputs),
    latest: () => publication,
    health,
    problems,
  };
}

/** How each kind has been read, for Fairlead's own health. */
function kubernetesReads(source: KubernetesSource): readonly KindReads[] {
  return Object.entries(source.status()).map(([kind, { lists, watches, restarts, answerSeconds }]) => ({
    resource: kind.toLowerCase(),
    lists,
    watches,
    restarts,
    answerSeconds,
  }));
}

/** Reviews are written from the ledger where one is kept, else from the server that knows the past. */
function reviewOutputOf(
  { cluster, cost, ledger }: Config,
  accounts: LedgerOutput["accounts"] | null,
  past: History | null,
  now: () => number,
): Pick<Outputs, "review"> {
  const history = accounts === null || ledger === undefined ? past : createLedgerHistory(ledger.path, accounts.query);
  if (history === null) return {};
  const { budgets, notCharged } = cost;
  return { review: createReviewOutput({ cluster, history, accounts, budgets, notCharged }, now) };
}

/**
 * Where the settings of schedulers are found. If the configuration names the plugin of Volcano, no ConfigMap is needed for it.
 */
function settingsPlaces({ kueue, volcano }: Config["queues"]): SettingsPlaces {
  const plugin = volcano.plugin === "auto" ? volcano.configMap : volcano.plugin;
  return {
    ...(kueue.configMap === undefined ? {} : { kueue: kueue.configMap }),
    ...(plugin === undefined ? {} : { volcano: plugin }),
  };
}
