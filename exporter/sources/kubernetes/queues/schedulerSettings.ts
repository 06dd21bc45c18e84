import type { Problem } from "../../../model/problem.ts";
import { type SchedulerSettings, unknownSchedulerSettings } from "../../../model/queues/queueObjects.ts";
import type { ApiClient } from "../apiClient.ts";
import { type Clock, pause } from "../clock.ts";
import { isRecord } from "../fields.ts";
import { groupVersionPath } from "../kinds.ts";
import { setbackOf } from "../setback.ts";
import { readKueueSettings, readVolcanoSettings, type SettingsReading } from "./settingsText.ts";

export interface ConfigMapPlace {
  readonly namespace: string;
  readonly name: string;
}

/** Where the settings of schedulers are; what is not here is not read. */
export interface SettingsPlaces {
  readonly kueue?: ConfigMapPlace;
  /** A plugin that is named here needs no ConfigMap. */
  readonly volcano?: ConfigMapPlace | "proportion" | "capacity";
}

/** Reads the settings of schedulers from the ConfigMaps that the configuration names, again and again. */
export interface SchedulerSettingsReader {
  /** Resolves when each ConfigMap was asked for once. */
  start(): Promise<void>;
  stop(): Promise<void>;
  /** What was read last, up to its age limit. */
  read(): SchedulerSettings;
  problems(): readonly Problem[];
}

const everySeconds = 60;
/** Settings change seldom; what was read is used for so long while it cannot be read again. */
const maxAgeSeconds = 900;
const deadlineSeconds = 10;
/** A ConfigMap has at most 1 MiB. */
const maxBytes = 4 * 1024 * 1024;

/** One ConfigMap, what was read from it, and what is wrong with it. */
interface Watched<Settings> {
  readonly place: ConfigMapPlace;
  /** Where the configuration names it. */
  readonly setting: string;
  readonly parse: (data: Readonly<Record<string, unknown>>) => SettingsReading<Settings>;
  settings: Settings | null;
  /** Monotonic time of the last good reading. */
  readAt: number;
  problem: Problem | null;
}

export function createSchedulerSettings(
  client: ApiClient,
  clock: Clock,
  places: SettingsPlaces,
): SchedulerSettingsReader {
  const stopping = new AbortController();
  let running: Promise<void> = Promise.resolve();
  const kueue = places.kueue === undefined ? null : watched("queues.kueue.configMap", places.kueue, readKueueSettings);
  const { volcano: wished } = places;
  const volcano = typeof wished === "object" ? watched("queues.volcano.configMap", wished, readVolcanoSettings) : null;
  const plugin = typeof wished === "string" ? { plugin: wished } : null;

  const readAll = async (): Promise<void> => {
    const { signal } = stopping;
    await Promise.all([
      kueue === null ? null : readOne(client, clock, signal, kueue),
      volcano === null ? null : readOne(client, clock, signal, volcano),
    ]);
  };

  const run = async (): Promise<void> => {
    while (!stopping.signal.aborted) {
      await pause(clock, everySeconds, stopping.signal);
      if (!stopping.signal.aborted) await readAll();
    }
  };

  const lately = <Settings>(entry: Watched<Settings> | null): Settings | null =>
    entry !== null && clock.monotonic() - entry.readAt <= maxAgeSeconds ? entry.settings : null;

  return {
    start: async () => {
      if (kueue === null && volcano === null) return;
      await readAll();
      running = run();
    },
    stop: async () => {
      stopping.abort();
      await running;
    },
    read: () => {
      const found = { kueue: lately(kueue), volcano: plugin ?? lately(volcano) };
      return found.kueue === null && found.volcano === null ? unknownSchedulerSettings : found;
    },
    problems: () => [kueue?.problem, volcano?.problem].filter((problem) => problem !== null && problem !== undefined),
  };
}

function watched<Settings>(
  setting: string,
  place: ConfigMapPlace,
  parse: Watched<Settings>["parse"],
): Watched<Settings> {
  return { place, setting, parse, settings: null, readAt: Number.NEGATIVE_INFINITY, problem: null };
}

async function readOne<Settings>(
  client: ApiClient,
  clock: Clock,
  signal: AbortSignal,
  entry: Watched<Settings>,
): Promise<void> {
  const { namespace, name } = entry.place;
  const path = `${groupVersionPath("", "v1")}/namespaces/${encodeURIComponent(namespace)}/configmaps/${encodeURIComponent(name)}`;
  const answer = await client.get(path, { accept: "application/json", signal, deadlineSeconds, maxBytes });
  if (signal.aborted) return;
  if (!answer.ok) {
    entry.problem = problemOf(entry, `cannot be read: ${answer.message}`, checkServer);
    return;
  }
  if (answer.status !== 200) {
    const { state, message } = setbackOf(answer.status, answer.body, answer.retryAfterSeconds);
    const advice = { forbidden: allowIt(entry), absent: correctIt(entry), failing: checkServer }[state];
    entry.problem = problemOf(entry, `cannot be read: ${message}`, advice);
    return;
  }
  const reading = entry.parse(dataOf(answer.body));
  if (reading.settings !== null) {
    entry.settings = reading.settings;
    entry.readAt = clock.monotonic();
  }
  entry.problem = reading.odd === null ? null : problemOf(entry, reading.odd, correctIt(entry));
}

function dataOf(body: Buffer): Readonly<Record<string, unknown>> {
  try {
    const object: unknown = JSON.parse(body.toString("utf8"));
    return isRecord(object) && isRecord(object.data) ? object.data : {};
  } catch {
    return {};
  }
}

type Named = Pick<Watched<unknown>, "place" | "setting">;

const checkServer = "Check that the API server answers; it is asked again by itself.";

function allowIt({ place: { namespace, name }, setting }: Named): string {
  return `Allow Fairlead's service account "get" on configmaps by a Role in namespace ${namespace} with resourceNames [${name}], or remove ${setting} from the configuration.`;
}

function correctIt({ place: { namespace, name }, setting }: Named): string {
  return `Look at it with "kubectl -n ${namespace} get configmap ${name} -o yaml", and correct ${setting} in the configuration or the ConfigMap.`;
}

function problemOf(entry: Named, found: string, nextStep: string): Problem {
  const { namespace, name } = entry.place;
  return {
    source: "kubernetes",
    code: "scheduler-settings",
    severity: "warning",
    subject: `configmap ${namespace}/${name}`,
    message: `ConfigMap ${namespace}/${name}, which ${entry.setting} names, ${found}`,
    nextStep,
  };
}
