import { servedKinds } from "./api/kinds.ts";
import { type ApiServer, createApiServer, type PodPorts } from "./api/server.ts";
import { createObjectStore } from "./api/store.ts";
import { createWatchHub } from "./api/watch.ts";
import type { ClusterControls } from "./api/write/controls.ts";
import { logRequest, type WrittenRequest } from "./api/write/requestLog.ts";
import { apply } from "./cluster/apply.ts";
import { applyFault } from "./cluster/applyFault.ts";
import { createWorkload } from "./cluster/lifecycle.ts";
import { disruptPod, letGo, removeNode, restartExporter } from "./cluster/removePod.ts";
import { reportTruth } from "./cluster/report.ts";
import { createLivedInWorld, longestStep, step } from "./cluster/step.ts";
import { type SimNode, type SimPod, type World, wallClock } from "./cluster/world.ts";
import { createFaultBoard, type Fault, type FaultBoard, faultsOf, hits } from "./faults.ts";
import { exporterDaemonSet } from "./objects/node.ts";
import { createPublisher, type Publisher } from "./objects/publisher.ts";
import { createExporterServer, type ExporterServer } from "./pages/server.ts";
import { serverPage } from "./pages/servingPage.ts";
import { systemsOf } from "./queues/membership.ts";
import type { QueueSystemName } from "./queues/spec.ts";
import type { LaterFault, Scenario, WorkloadSpec } from "./scenario.ts";
import type { Truth } from "./truth.ts";

export interface SimulatorOptions {
  readonly scenario: Scenario;
  /** The same seed, start and advances give the same objects and pages, except for the ports of the listeners. */
  readonly seed: number;
  /** The start, seconds since the epoch. */
  readonly startAt: number;
  /** Queue systems whose kinds the API does not have yet. */
  readonly notInstalled?: readonly QueueSystemName[];
}

/** A simulated cluster without a network: a Kubernetes API and one dcgm-exporter per GPU node, asked by calling them. */
export interface SimulatedCluster {
  readonly api: ApiServer;
  /** URL of each node's metrics page, by node name; nodes without an exporter are absent. */
  readonly metricsUrls: ReadonlyMap<string, string>;
  /** The exporters, by node name. */
  readonly exporters: ReadonlyMap<string, ExporterServer>;
  /** The page of metrics of a pod's server at this URL, now; `null` if nobody listens there. */
  serverPage(url: string): string | null;
  /** The cluster's wall clock, seconds since the epoch. */
  now(): number;
  /** Seconds that have passed, whatever the wall clock shows. */
  monotonic(): number;
  /**
   * Lets `seconds` go by, in steps of at most ten (or the scenario's `stepSeconds`); then each watch that asked for bookmarks
   * gets one.
   */
  advance(seconds: number): void;
  resourceVersion(): string;
  truth(): Truth;
  /** Switches a fault on; the returned function switches it off. */
  fault(fault: Fault): () => void;
  /** Forgets the history of all objects: a watch from an older version is answered with 410. */
  compact(): void;
  /** Adds the kinds of a queue system to the API, or removes them; watches that are open stay open. */
  install(system: QueueSystemName, isInstalled: boolean): void;
  /** Lets the owner of a workload that is no longer needed delete it with its pods; `false` where there is none. */
  letGo(namespace: string, name: string): boolean;
  /** Starts one more workload, which runs until it is stopped. */
  submit(name: string, workload: WorkloadSpec): void;
  /** The changes that the API was asked for, oldest first, and its answers. */
  requests(): readonly WrittenRequest[];
  /** The number of watches that clients hold open now. */
  openWatches(): number;
}

/** A cluster whose warm-up is over, before the ports of its exporters are known. */
export interface PreparedCluster {
  readonly faults: FaultBoard;
  /** The exporters by node name. */
  readonly exporters: ReadonlyMap<string, ExporterServer>;
  /** Opens its API. `ports` are those of the exporters, by node name. */
  open(ports: ReadonlyMap<string, number>): SimulatedCluster;
}

/** The first of the ports of exporters without a network, at which nothing listens. */
const firstPort = 20_000;

/** A simulated cluster without a network: the same seed, start, advances and writes give the same answers, to the byte. */
export function createSimulatedCluster(options: SimulatorOptions): SimulatedCluster {
  const prepared = prepareCluster(options);
  return prepared.open(new Map([...prepared.exporters.keys()].map((node, i) => [node, firstPort + i])));
}

/** Makes a world and runs its warm-up. */
export function prepareCluster(options: SimulatorOptions): PreparedCluster {
  const world = createLivedInWorld(options.scenario, options.seed, options.startAt);
  const store = createObjectStore();
  const hub = createWatchHub(store);
  const faults = createFaultBoard((fault, on) => applyFault(world, hub, fault, on));
  const exporters = new Map(
    world.nodes.flatMap((node) => {
      const { name, exporter } = node.spec;
      return exporter === null ? [] : [[name, createExporterServer(world, node, exporter, faults)] as const];
    }),
  );

  function open(ports: ReadonlyMap<string, number>): SimulatedCluster {
    for (const node of world.nodes) node.exporterPort = ports.get(node.spec.name) ?? 0;
    const publisher = createPublisher(world, store);
    publisher.publish();
    const installed = new Set(systemsOf(options.scenario));
    for (const system of options.notInstalled ?? []) installed.delete(system);
    let kinds = servedKinds(installed);
    const requests: WrittenRequest[] = [];
    const controls = createControls(world, publisher, faults);
    const written = (request: Omit<WrittenRequest, "at">): void =>
      logRequest(requests, { at: wallClock(world), ...request });
    const isFrozen = (node: SimNode): boolean =>
      faultsOf(faults, "exporter-frozen").some((fault) => hits(fault.target, node.spec.name));
    for (const fault of options.scenario.faults) faults.on(fault);
    publisher.publish();
    const exporterPort: PodPorts = (namespace, name) => {
      const node = world.nodes.find(({ exporterPodName }) => exporterPodName === name);
      const exporter = node === undefined ? undefined : exporters.get(node.spec.name);
      if (node === undefined || exporter === undefined || namespace !== exporterDaemonSet.namespace) return undefined;
      return { port: node.exporterPort, exporter };
    };
    const began = world.time;
    const later = [...(options.scenario.laterFaults ?? [])];
    const ends: FaultEnd[] = [];
    return {
      api: createApiServer(() => kinds, store, hub, faults, { controls, written }, exporterPort),
      exporters,
      get metricsUrls() {
        return metricsUrls(world);
      },
      serverPage: (url) => serverPage(world, url),
      now: () => wallClock(world),
      monotonic: () => world.time,
      advance(seconds) {
        const end = world.time + seconds;
        while (world.time < end) {
          step(world, Math.min(longestStep(world.scenario), end - world.time), isFrozen);
          beginFaults(faults, later, ends, world.time - began);
          publisher.publish();
        }
        hub.bookmark();
      },
      resourceVersion: () => String(store.version()),
      truth: () => reportTruth(world),
      fault(fault) {
        const off = faults.on(fault);
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
      letGo(namespace, name) {
        const isThere = letGo(world, namespace, name);
        publisher.publish();
        return isThere;
      },
      submit(name, spec) {
        const start = { habit: null, runSeconds: null, fails: false, ageSeconds: 0, podName: null };
        createWorkload(world, { name, spec, ...start });
        publisher.publish();
      },
      requests: () => [...requests],
      openWatches: () => hub.openWatches(),
    };
  }

  return { faults, exporters, open };
}

/** What the API's writes do to a world. */
function createControls(world: World, publisher: Publisher, faults: FaultBoard): ClusterControls {
  return {
    removePod(namespace, name, by) {
      const pod = podNamed(world, namespace, name);
      if (pod !== undefined) disruptPod(world, pod, by === "eviction" ? "EvictionByEvictionAPI" : null);
      else if (namespace === exporterDaemonSet.namespace) restartExporterNamed(world, faults, name);
      publisher.publish();
    },
    deleteNode(name) {
      const node = world.nodesByName.get(name);
      if (node !== undefined) removeNode(world, node);
      publisher.publish();
    },
    change(info, wanted) {
      apply(world, info, wanted);
      publisher.publishWritten(info, wanted);
    },
  };
}

function podNamed(world: World, namespace: string, name: string): SimPod | undefined {
  for (const { spec, pods } of world.workloads) {
    const pod = spec.namespace === namespace ? pods.find((each) => each.name === name) : undefined;
    if (pod !== undefined) return pod;
  }
  return undefined;
}

function restartExporterNamed(world: World, faults: FaultBoard, name: string): void {
  const node = world.nodes.find(({ exporterPodName }) => exporterPodName === name);
  if (node === undefined) return;
  restartExporter(world, node);
  faults.restarted(node.spec.name);
}

/** Switches off the faults that were to end by now and on those that were to begin, and takes them off the lists. */
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

function metricsUrls(world: World): ReadonlyMap<string, string> {
  const urls = new Map<string, string>();
  for (const node of world.nodes) {
    if (node.exporterPort > 0) urls.set(node.spec.name, `http://127.0.0.1:${node.exporterPort}/metrics`);
  }
  return urls;
}
