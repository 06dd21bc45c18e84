import { scheduleOnMachine } from "../exporter/sources/dcgm/dcgmSource.ts";
import type { ExporterStack } from "./exporterStack.ts";

/** The first cycle waits at most this many intervals for telemetry, once the Kubernetes API was asked for everything. */
export const firstRoundIntervals = 2;

/** The time between two looks at whether the pods are known, seconds. */
const lookSeconds = 0.25;

/** How sources are started. */
export interface SourcesStart {
  /** How long pods and the first round of telemetry are waited for. */
  readonly boundSeconds: number;
  /** Whether the sources are to be stopped again: then nothing more is started. */
  readonly isEnding: () => boolean;
  /** Calls back once after this many seconds; the result cancels it. Default: the machine's timers. */
  readonly schedule?: typeof scheduleOnMachine;
}

/**
 * Starts all sources; resolves when each has made its first attempt, so that the first cycle has telemetry. Exporters are
 * found among the pods: telemetry comes after they were listed. A source that never answers is waited for no longer than
 * `boundSeconds`, and goes on by itself.
 */
export async function startSources(
  { kubernetes, dcgm, prices }: Pick<ExporterStack, "kubernetes" | "dcgm" | "prices">,
  { boundSeconds, isEnding, schedule = scheduleOnMachine }: SourcesStart,
): Promise<void> {
  await Promise.all([kubernetes.start(), prices.start()]);
  let isOver = false;
  const arePodsOnTheWay = (): boolean => {
    if (kubernetes.read().known.has("pods")) return false;
    const { state } = kubernetes.status().pods;
    return state === "starting" || state === "failing";
  };
  const firstRound = async (): Promise<void> => {
    while (!isOver && !isEnding() && arePodsOnTheWay())
      await new Promise<void>((resolve) => schedule(lookSeconds, resolve));
    if (!isEnding()) await dcgm.start();
  };
  await new Promise<void>((resolve, reject) => {
    const cancel = schedule(boundSeconds, () => {
      isOver = true;
      resolve();
    });
    firstRound().then(resolve, reject).finally(cancel);
  });
}
