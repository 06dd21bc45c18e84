import type { Problem } from "../../../model/problem.ts";
import { type SchedulerSettings, unknownSchedulerSettings } from "../../../model/queues/queueObjects.ts";
import type { ApiClient } from "../apiClient.ts";
import { type Clock, pause } from "../clock.ts";
import {
  type ConfigMapPlace,
  configMapSeconds,
  lately,
  readConfigMap,
  type WatchedConfigMap,
  watchedConfigMap,
} from "../configMapReading.ts";
import { readKueueSettings, readVolcanoSettings } from "./settingsText.ts";

/** Where the settings of schedulers are; settings that are not listed are not read. */
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

export function createSchedulerSettings(
  client: ApiClient,
  clock: Clock,
  places: SettingsPlaces,
): SchedulerSettingsReader {
  const stopping = new AbortController();
  let running: Promise<void> = Promise.resolve();
  const kueue = places.kueue === undefined ? null : settingsIn("kueue", places.kueue, readKueueSettings);
  const { volcano: wished } = places;
  const volcano = typeof wished === "object" ? settingsIn("volcano", wished, readVolcanoSettings) : null;
  const plugin = typeof wished === "string" ? { plugin: wished } : null;

  const readAll = async (): Promise<void> => {
    const { signal } = stopping;
    await Promise.all([
      kueue === null ? null : readConfigMap(client, clock, signal, kueue),
      volcano === null ? null : readConfigMap(client, clock, signal, volcano),
    ]);
  };

  const run = async (): Promise<void> => {
    while (!stopping.signal.aborted) {
      await pause(clock, configMapSeconds, stopping.signal);
      if (!stopping.signal.aborted) await readAll();
    }
  };

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
      const found = { kueue: lately(clock, kueue), volcano: plugin ?? lately(clock, volcano) };
      return found.kueue === null && found.volcano === null ? unknownSchedulerSettings : found;
    },
    problems: () => [kueue?.problem, volcano?.problem].filter((problem) => problem !== null && problem !== undefined),
  };
}

function settingsIn<Settings>(
  scheduler: "kueue" | "volcano",
  place: ConfigMapPlace,
  parse: WatchedConfigMap<Settings>["parse"],
): WatchedConfigMap<Settings> {
  return watchedConfigMap({ place, setting: `queues.${scheduler}.configMap`, code: "scheduler-settings", parse });
}
