import { servedKinds } from "./api/kinds.ts";
import { createApiHandler } from "./api/server.ts";
import { createObjectStore } from "./api/store.ts";
import { createWatchHub } from "./api/watch.ts";
import type { ClusterControls } from "./api/write/controls.ts";
import { logRequest, type WrittenRequest } from "./api/write/requestLog.ts";
import { applyFault } from "./cluster/applyFault.ts";
import { createLivedInWorld, longestStep, step } from "./cluster/step.ts";
import { tellTruth } from "./cluster/tell.ts";
import { type SimNode, type World, wallClock } from "./cluster/world.ts";
import { createControls } from "./controls.ts";
import { createFaultBoard, type Fault, type FaultBoard, faultsOf, hits } from "./faults.ts";
import { type Listener, listen } from "./listen.ts";
import { createPublisher } from "./objects/publisher.ts";
import { createExporterHandler } from "./pages/server.ts";
import { systemsOf } from "./queues/membership.ts";
import type { QueueSystemName } from "./queues/spec.ts";
import type { LaterFault, Scenario } from "./scenario.ts";
import type { Truth } from "./truth.ts";

export interface SimulatorOptions {
  readonly scenario: Scenario;
  /** The same seed, start and advances give the same objects and pages, but for the ports of the listeners. */
  readonly seed: number;
  /** Seconds since the epoch. */
  readonly startAt: number;
  /** Queue systems whose kinds the API does not have yet. */
  readonly notInstalled?: readonly QueueSystemName[];
}

/** A cluster in a box: a Kubernetes API and one dcgm-exporter per GPU node, all on the loopback address. */
export interface Simulator {
  /** `http://127.0.0.1:PORT`, serving `/api` and `/apis`. */
  readonly apiUrl: string;
  /** URL of each node's metrics page, by node name; nodes without an exporter are absent. */
  readonly metricsUrls: ReadonlyMap<string, string>;
  /** A kubeconfig for `apiUrl`, without credentials. */
  readonly kubeconfig: () => string;
  /** The cluster's wall clock, seconds since the epoch. */
  now(): number;
  /** Seconds that went by, whatever the wall clock says. */
  monotonic(): number;
  /** Lets `seconds` go by, in steps of at most ten (or the scenario's `stepSeconds`); then each watch that asked for bookmarks gets one. */
  advance(seconds: number): void;
  resourceVersion(): string;
  truth(): Truth;
  /** Switches a fault on; the returned function switches it off. */
  fault(fault: Fault): () => void;
  /** Forgets the history of all objects: a watch from an older version is answered with 410. */
  compact(): void;
  /** Lets the API have the kinds of a queue system, or have them no more; watches that are open stay so. */
  install(system: QueueSystemName, isInstalled: boolean): void;
  /** What the API was asked to change, oldest first, and how it answered. */
  requests(): readonly WrittenRequest[];
  /** Watches that clients hold open now. */
  openWatches(): number;
  stop(): Promise<void>;
}

/** Starts a simulated cluster. Rejects when no port can be had. */
export async function startSimulator(options: SimulatorOptions): Promise<Simulator> {
  const world = createLivedInWorld(options.scenario, options.seed, options.startAt);
  const store = createObjectStore();
  const hub = createWatchHub(store);
  const board = createFaultBoard((fault, on) => applyFault(world, hub, fault, on));
  const listeners = await listenForExporters(world, board);
  const publisher = createPublisher(world, store);
  publisher.publish();
  const installed = new Set(systemsOf(options.scenario));
  for (const system of options.notInstalled ?? []) installed.delete(system);
  let kinds = servedKinds(installed);
  const requests: WrittenRequest[] = [];
  const controls: ClusterControls = createControls(world, publisher, board);
  const written = (request: Omit<WrittenRequest, "at">): void =>
    logRequest(requests, { at: wallClock(world), ...request });
  const api = await listen(createApiHandler(() => kinds, store, hub, board, { controls, written }));
  const apiUrl = `http://127.0.0.1:${api.port}`;
  const isFrozen = (node: SimNode): boolean =>
    faultsOf(board, "exporter-frozen").some((fault) => hits(fault.target, node.spec.name));
  for (const fault of options.scenario.faults) board.on(fault);
  publisher.publish();
  const began = world.time;
  const later = [...(options.scenario.laterFaults ?? [])];
  const ends: FaultEnd[] = [];

  return {
    apiUrl,
    get metricsUrls() {
      return metricsUrls(world);
    },
    kubeconfig: () => kubeconfig(apiUrl),
    now: () => wallClock(world),
    monotonic: () => world.time,
    advance(seconds) {
      const end = world.time + seconds;
      while (world.time < end) {
        step(world, Math.min(longestStep(world.scenario), end - world.time), isFrozen);
        beginFaults(board, later, ends, world.time - began);
        publisher.publish();
      }
      hub.bookmark();
    },
    resourceVersion: () => String(store.version()),
    truth: () => tellTruth(world),
    fault(fault) {
      const off = board.on(fault);
      publisher.publish();
      return () => {
        off();
        publisher.publish();
      };
    },
    compact: () => store.compact(),
    install(system, isInstalled) {
      if (isInstalled) installed.add(system);
      else installed.delete(system);
      kinds = servedKinds(installed);
    },
    requests: () => [...requests],
    openWatches: () => hub.openWatches(),
    async stop() {
      await Promise.all([api, ...listeners].map((listener) => listener.close()));
    },
  };
}

/** Switches off what was to end by now, and on what was to begin, and takes them off the lists. */
function beginFaults(board: FaultBoard, later: LaterFault[], ends: FaultEnd[], seconds: number): void {
  for (const end of ends.filter(({ atSeconds }) => atSeconds <= seconds)) {
    ends.splice(ends.indexOf(end), 1);
    end.off();
  }
  for (const entry of later.filter(({ afterSeconds }) => afterSeconds <= seconds)) {
    later.splice(later.indexOf(entry), 1);
    const off = board.on(entry.fault);
    if (entry.forSeconds !== undefined) ends.push({ atSeconds: entry.afterSeconds + entry.forSeconds, off });
  }
}

interface FaultEnd {
  readonly atSeconds: number;
  readonly off: () => void;
}

async function listenForExporters(world: World, board: FaultBoard): Promise<readonly Listener[]> {
  const started = world.nodes.map(async (node) => {
    const { exporter } = node.spec;
    if (exporter === null) return [];
    const listener = await listen(createExporterHandler(world, node, exporter, board));
    node.exporterPort = listener.port;
    return [listener];
  });
  return (await Promise.all(started)).flat();
}

function metricsUrls(world: World): ReadonlyMap<string, string> {
  const urls = new Map<string, string>();
  for (const node of world.nodes) {
    if (node.exporterPort > 0) urls.set(node.spec.name, `http://127.0.0.1:${node.exporterPort}/metrics`);
  }
  return urls;
}

function kubeconfig(apiUrl: string): string {
  return `apiVersion: v1
kind: Config
clusters:
  - name: simulator
    cluster:
      server: ${apiUrl}
users:
  - name: simulator
    user: {}
contexts:
  - name: simulator
    context:
      cluster: simulator
      user: simulator
current-context: simulator
`;
}
