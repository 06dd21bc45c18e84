import type { Config } from "../../exporter/config/schema.ts";
import type { QueueObjectKind } from "../../exporter/model/queues/queueObjects.ts";
import { createApiClient } from "../../exporter/sources/kubernetes/apiClient.ts";
import { type Clock, systemClock } from "../../exporter/sources/kubernetes/clock.ts";
import { anonymousCredentials } from "../../exporter/sources/kubernetes/credentials.ts";
import type { KubernetesSourceOptions } from "../../exporter/sources/kubernetes/kubernetesSource.ts";
import type { Scenario } from "../../simulator/scenario.ts";
import type { SimulatedCluster, SimulatorOptions } from "../../simulator/simulatedCluster.ts";
import { type Simulator, startSimulator } from "../../simulator/simulator.ts";
import { buildExporter, type ExporterStack, type StackOptions } from "../exporterStack.ts";
import { countRequests } from "./countRequests.ts";
import { createPlayedClock } from "./playedClock.ts";
import { createServerPages } from "./serverPages.ts";

/** What is played, and how the exporter that watches it is configured. */
export interface PlayOptions extends Pick<SimulatorOptions, "notInstalled"> {
  readonly scenario: Scenario;
  readonly seed: number;
  /** When the play begins, seconds since the epoch. */
  readonly startAt: number;
  readonly config: Config;
  /** Whether back-off, deadlines and ages of the Kubernetes API also follow the steps, and not the machine's clock alone. */
  readonly hurriedApi?: boolean;
  /** With `hurriedApi`: whether the API has no faults, so that nothing breaks off that would have to be waited for. */
  readonly isApiInOrder?: boolean;
  /** Options that are passed on to the exporter. */
  readonly stack?: Pick<StackOptions, "runStage" | "ledger"> &
    Partial<Pick<StackOptions, "users" | "teams">> & {
      readonly kubernetes?: Pick<
        KubernetesSourceOptions,
        "random" | "slowAnswerSeconds" | "ownerLimits" | "onStateChange" | "onRestart"
      >;
    };
}

/** A simulated cluster with an exporter on it, stepped by hand: its time passes only in `step`. */
export interface PlayedCluster {
  readonly simulator: Simulator;
  readonly stack: ExporterStack;
  /**
   * Lets `seconds` go by, waits until the exporter has seen what happened, scrapes every target once and runs one cycle. It
   * looks at most `looks` times whether the exporter has seen everything, because an API with faults may never show all of it.
   * Looks are turns of the event loop, in which both ends of each connection are served, and not milliseconds: a busy machine
   * takes longer for them and sees as much.
   */
  step(seconds: number, looks?: number): Promise<void>;
  stop(): Promise<void>;
}

const usualLooks = 10_000;
const usualPatience = 20_000;

/** Starts a simulated cluster behind real HTTP, and an exporter that has listed it; no cycle has run yet. */
export async function playCluster(options: PlayOptions): Promise<PlayedCluster> {
  const { config } = options;
  const simulator = await startSimulator(options);
  const stepClock = options.hurriedApi === true ? createStepClock() : null;
  const clock = stepClock ?? systemClock;
  // Owners are read when the steps say so: advice depends on them, and a play must be the same on any machine.
  const ownerClock = createPlayedClock({ now: simulator.now, monotonic: simulator.monotonic });
  const { client, underWay } = countRequests(createApiClient(anonymousCredentials(simulator.apiUrl), systemClock));
  const stack = buildExporter({
    config,
    client,
    servingPages: createServerPages(simulator),
    now: simulator.now,
    monotonic: simulator.monotonic,
    telemetryPath: "/metrics",
    users: {},
    ...options.stack,
    kubernetes: { random: () => 0.5, ...options.stack?.kubernetes, clock, ownerClock: stepClock ?? ownerClock },
  });
  await Promise.all([stack.kubernetes.start(), stack.prices.start()]);
  return {
    simulator,
    stack,
    async step(seconds, looks = usualLooks) {
      if (seconds > 0) simulator.advance(seconds);
      if (stepClock !== null && options.isApiInOrder === true) {
        await catchUp(simulator, stack, looks);
        stepClock.push(seconds);
      } else if (stepClock !== null) {
        // Requests that broke off must be noticed before time goes on, and the requests that follow must be answered before
        // anyone looks at the result.
        await quiet(underWay);
        stepClock.push(seconds);
        await quiet(underWay);
      }
      await catchUp(simulator, stack, looks);
      ownerClock.elapse();
      if (stepClock === null || options.isApiInOrder === true) await ownersRead(underWay, looks);
      await stack.dcgm.scrapeOnce(simulator.now());
      await stack.cycle.run();
    },
    async stop() {
      await Promise.all([stack.dcgm.stop(), stack.kubernetes.stop(), stack.prices.stop(), stack.closeHistory()]);
      await client.close();
      await simulator.stop();
    },
  };
}

/**
 * A clock that goes on by itself and can be pushed. Callbacks run when it is pushed, and never in between, so that retries do
 * not depend on how fast the machine is.
 */
export interface StepClock extends Clock {
  /** Lets `seconds` more go by at once, and calls back what falls due, in order. */
  push(seconds: number): void;
}

/** The machine's clock, pushed on by the steps of a simulation: back-off and ages then take steps instead of minutes. */
export function createStepClock(): StepClock {
  let pushed = 0;
  const { elapse, ...clock } = createPlayedClock({
    now: () => systemClock.now() + pushed,
    monotonic: () => systemClock.monotonic() + pushed,
  });
  return {
    ...clock,
    push(seconds) {
      pushed += seconds;
      elapse();
    },
  };
}

/** Waits until no request is under way and none has been for a moment. */
async function quiet(underWay: () => number): Promise<void> {
  const deadline = Date.now() + usualPatience;
  for (let calm = 0; calm < 6 && Date.now() < deadline; calm = underWay() === 0 ? calm + 1 : 0)
    await new Promise((resolve) => setTimeout(resolve, 5));
}

const queueKinds = [
  "kueueClusterQueues",
  "kueueWorkloads",
  "kaiQueues",
  "kaiPodGroups",
  "volcanoQueues",
  "volcanoPodGroups",
] as const satisfies readonly QueueObjectKind[];

/** Waits until the exporter's watches have seen everything that the simulated API has sent. */
async function catchUp(simulator: SimulatedCluster, stack: ExporterStack, looks: number): Promise<void> {
  const wanted = simulator.resourceVersion();
  for (let look = 0; look < looks; look++) {
    const { resourceVersions } = stack.kubernetes.read();
    const { pods, nodes, resourceClaims, resourceSlices } = resourceVersions;
    // Kinds that the cluster does not have were never listed.
    const ofQueues = queueKinds.map((kind) => resourceVersions[kind]).filter((version) => version !== undefined);
    const seen = [pods, nodes, resourceClaims, resourceSlices, ...ofQueues];
    if (seen.every((version) => version !== undefined && Number(version) >= Number(wanted))) return;
    await new Promise((resolve) => setTimeout(resolve, 2));
  }
}

/** Waits until the owners of pods that are due have been read: nothing else is asked of an API that is in order. */
async function ownersRead(underWay: () => number, looks: number): Promise<void> {
  // Work that the elapsed clock resumes goes on in the next turns of the event loop.
  await new Promise((resolve) => setImmediate(resolve));
  for (let look = 0; look < looks && underWay() > 0; look++) await new Promise((resolve) => setTimeout(resolve, 2));
}
