import type { AutoscalerNodeGroup } from "../../model/nodePools.ts";
import type { Problem } from "../../model/problem.ts";
import type { ApiClient } from "./apiClient.ts";
import { readAutoscalerStatus } from "./autoscalerStatusText.ts";
import { type Clock, pause } from "./clock.ts";
import { type ConfigMapPlace, configMapSeconds, lately, readConfigMap, watchedConfigMap } from "./configMapReading.ts";

/** Reads the node groups of the Cluster Autoscaler from the ConfigMap that the configuration names, again and again. */
export interface AutoscalerStatusReader {
  /** Resolves when it was asked for once. */
  start(): Promise<void>;
  stop(): Promise<void>;
  /** What was read last, up to its age limit; the same list until it is read again. */
  read(): readonly AutoscalerNodeGroup[];
  problems(): readonly Problem[];
}

const none: readonly AutoscalerNodeGroup[] = [];

/** Creates the reader; without a place it reads nothing. */
export function createAutoscalerStatus(
  client: ApiClient,
  clock: Clock,
  place: ConfigMapPlace | null,
): AutoscalerStatusReader {
  const stopping = new AbortController();
  let running: Promise<void> = Promise.resolve();
  const setting = "clusterAutoscaler.statusConfigMap";
  const status =
    place === null
      ? null
      : watchedConfigMap({ place, setting, code: "autoscaler-status", parse: readAutoscalerStatus });

  return {
    start: async () => {
      if (status === null) return;
      const { signal } = stopping;
      await readConfigMap(client, clock, signal, status);
      running = (async () => {
        while (!signal.aborted) {
          await pause(clock, configMapSeconds, signal);
          if (!signal.aborted) await readConfigMap(client, clock, signal, status);
        }
      })();
    },
    stop: async () => {
      stopping.abort();
      await running;
    },
    read: () => lately(clock, status) ?? none,
    problems: () => (status === null || status.problem === null ? [] : [status.problem]),
  };
}
