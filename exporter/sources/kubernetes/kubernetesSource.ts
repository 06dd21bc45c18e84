import type { NodeRequests, ObjectKind } from "../../model/cluster.ts";
import type { Problem } from "../../model/problem.ts";
import type { Freshness, Source } from "../port.ts";
import type { ApiClient } from "./apiClient.ts";
import { type Clock, pause, systemClock } from "./clock.ts";
import { locateKind } from "./discovery.ts";
import { kindProblems, slowAnswers } from "./kindProblems.ts";
import { type WatchedKindName, watchedKinds } from "./kinds.ts";
import { createRowTable, type ObjectTable } from "./objectTable.ts";
import { createOwnerLookup, defaultOwnerLimits, type OwnerLimits } from "./owners.ts";
import { createPodTable } from "./podTable.ts";
import { wireFormats } from "./protobuf/kinds.ts";
import { createReflector, defaultTiming, type Reflector, type ReflectorTiming } from "./reflector.ts";
import type { KindStatus, StateChange } from "./reflectorStatus.ts";
import type { Restart } from "./restarts.ts";
import { type ExporterChoice, readSelectors } from "./selectors.ts";
import type { KubernetesState } from "./state.ts";
import { stateOf } from "./stateCache.ts";
import type { WireFormat } from "./wire.ts";

export interface KubernetesSourceOptions {
  readonly client: ApiClient;
  /** Which pods are exporters. */
  readonly exporters: readonly ExporterChoice[];
  /** Names of extended resources that count as GPUs beside those known by name. */
  readonly gpuResources: readonly string[];
  /** How long the last good state of a kind is used while it cannot be read. */
  readonly maxAgeSeconds: number;
  readonly timing?: Partial<ReflectorTiming>;
  readonly ownerLimits?: Partial<OwnerLimits>;
  readonly clock?: Clock;
  /** Numbers in [0, 1). */
  readonly random?: () => number;
  /** Called once per change of a kind's state, for the log. */
  readonly onStateChange?: (change: StateChange) => void;
  /** Called once per watch or list that is begun anew, for the log. */
  readonly onRestart?: (restart: Restart) => void;
  /** An answer of the API that takes longer is a problem. */
  readonly slowAnswerSeconds?: number;
}

/** The source of objects, and what it knows beside the port's state. */
export interface KubernetesSource extends Source<KubernetesState> {
  /** How reading each kind stands. */
  status(): Readonly<Record<WatchedKindName, KindStatus>>;
  /**
   * Effective CPU and memory requests of all bound pods that have not ended, GPUs or not, by node; the same map until
   * a pod changes. `null` while pods are unknown.
   */
  requestsByNode(): ReadonlyMap<string, NodeRequests> | null;
}

/** The rest of a kind's age limit is for opening the watch anew. */
const silenceShare = 0.8;
/** A page of 500 objects takes well below a second; an API server that needs so long is in trouble. */
const defaultSlowAnswerSeconds = 5;
/** How often it is looked whether pods with GPUs have changed, and whether owners are due. */
const ownerTickSeconds = 2;
/** How often all owners are looked at, so that those whose time has come are read again. */
const ownerRefreshSeconds = 60;
/** How long `start` waits for the owners of the first pods: the first answer should name workloads. */
const firstOwnersSeconds = 15;

const kindNames = [
  "nodes",
  "pods",
  "namespaces",
  "priorityClasses",
  "podDisruptionBudgets",
  "resourceClaims",
  "resourceSlices",
] as const satisfies readonly WatchedKindName[];
const objectKinds: readonly ObjectKind[] = [...kindNames, "owners"];

export function createKubernetesSource(options: KubernetesSourceOptions): KubernetesSource {
  const { client, clock = systemClock, random = Math.random, maxAgeSeconds } = options;
  const wished: ReflectorTiming = { ...defaultTiming, ...options.timing };
  // A dead connection must be noticed before what it brought is too old to be used.
  const silenceSeconds = Math.min(wished.silenceSeconds, silenceShare * maxAgeSeconds);
  const timing: ReflectorTiming = { ...wished, silenceSeconds };
  const selectors = readSelectors(options.exporters);
  const projection = { gpuResources: new Set(options.gpuResources), exporters: selectors.usable };
  const tables = {
    nodes: createRowTable<KubernetesState["nodes"][number]>(),
    pods: createPodTable(),
    namespaces: createRowTable<KubernetesState["namespaces"][number]>(),
    priorityClasses: createRowTable<KubernetesState["priorityClasses"][number]>(),
    podDisruptionBudgets: createRowTable<KubernetesState["podDisruptionBudgets"][number]>(),
    resourceClaims: createRowTable<KubernetesState["resourceClaims"][number]>(),
    resourceSlices: createRowTable<KubernetesState["resourceSlices"][number]>(),
  };
  const owners = createOwnerLookup(client, clock, random, { ...defaultOwnerLimits, ...options.ownerLimits });

  const wires = wireFormats(projection);

  const reflect = <Row>(kind: WatchedKindName, table: ObjectTable<Row>, wire: WireFormat<Row>): Reflector =>
    createReflector({
      kind,
      client,
      clock,
      random,
      timing,
      table,
      optional: watchedKinds[kind].optional,
      locate: (signal) => locateKind(client, watchedKinds[kind], signal),
      wire,
      onStateChange: options.onStateChange ?? (() => {}),
      ...(options.onRestart === undefined ? {} : { onRestart: options.onRestart }),
    });

  const reflectors: Readonly<Record<WatchedKindName, Reflector>> = {
    nodes: reflect("nodes", tables.nodes, wires.nodes),
    pods: reflect("pods", tables.pods, wires.pods),
    namespaces: reflect("namespaces", tables.namespaces, wires.namespaces),
    priorityClasses: reflect("priorityClasses", tables.priorityClasses, wires.priorityClasses),
    podDisruptionBudgets: reflect("podDisruptionBudgets", tables.podDisruptionBudgets, wires.podDisruptionBudgets),
    resourceClaims: reflect("resourceClaims", tables.resourceClaims, wires.resourceClaims),
    resourceSlices: reflect("resourceSlices", tables.resourceSlices, wires.resourceSlices),
  };

  const status = (): Readonly<Record<WatchedKindName, KindStatus>> => ({
    nodes: reflectors.nodes.status(),
    pods: reflectors.pods.status(),
    namespaces: reflectors.namespaces.status(),
    priorityClasses: reflectors.priorityClasses.status(),
    podDisruptionBudgets: reflectors.podDisruptionBudgets.status(),
    resourceClaims: reflectors.resourceClaims.status(),
    resourceSlices: reflectors.resourceSlices.status(),
  });

  const isFresh = (status: KindStatus): boolean => {
    // That a kind is absent is only looked at from time to time.
    const allowed = status.state === "absent" ? maxAgeSeconds + timing.slowRetrySeconds : maxAgeSeconds;
    return status.ageSeconds !== null && status.ageSeconds <= allowed;
  };

  let ownersReadOnce = false;
  const ownersAge = (): number | null => {
    if (!ownersReadOnce) return null;
    return owners.pendingSince === null ? 0 : clock.monotonic() - owners.pendingSince;
  };

  const freshness = (): readonly Freshness[] => {
    const parts: Freshness[] = kindNames.map((kind) => {
      const status = reflectors[kind].status();
      return { part: kind, ageSeconds: status.ageSeconds, fresh: isFresh(status) };
    });
    const ageSeconds = ownersAge();
    const arePodsFresh = isFresh(reflectors.pods.status());
    return [
      ...parts,
      { part: "owners", ageSeconds, fresh: arePodsFresh && ageSeconds !== null && ageSeconds <= maxAgeSeconds },
    ];
  };

  const knownNow = (): ReadonlySet<ObjectKind> => {
    const fresh = new Set(freshness().flatMap(({ part, fresh }) => (fresh ? [part] : [])));
    return new Set(objectKinds.filter((kind) => fresh.has(kind)));
  };

  const stopping = new AbortController();
  let trackedRevision = -1;
  let trackedAt = 0;
  const trackOwners = (): void => {
    const now = clock.monotonic();
    const isRetryDue = owners.pendingSince !== null || now - trackedAt >= ownerRefreshSeconds;
    if (tables.pods.gpuRevision === trackedRevision && !isRetryDue) return;
    trackedRevision = tables.pods.gpuRevision;
    trackedAt = now;
    owners.track(
      tables.pods.gpuPods().flatMap(({ namespace, owner }) => (owner === null ? [] : [{ namespace, owner }])),
    );
  };
  let ticking: Promise<void> = Promise.resolve();
  const tick = async (): Promise<void> => {
    while (!stopping.signal.aborted) {
      trackOwners();
      if (!ownersReadOnce && owners.pending === 0 && tables.pods.revision > 0) ownersReadOnce = true;
      await pause(clock, ownerTickSeconds, stopping.signal);
    }
  };

  return {
    name: "kubernetes",
    start: async () => {
      await Promise.all(kindNames.map((kind) => reflectors[kind].start()));
      trackOwners();
      const enough = new AbortController();
      await Promise.race([owners.idle(), pause(clock, firstOwnersSeconds, enough.signal)]);
      enough.abort();
      ticking = tick();
    },
    stop: async () => {
      stopping.abort();
      await Promise.all([...kindNames.map((kind) => reflectors[kind].stop()), owners.stop(), ticking]);
    },
    read: () => {
      const versions: Partial<Record<ObjectKind, string>> = {};
      for (const kind of kindNames) {
        const { resourceVersion } = reflectors[kind].status();
        if (resourceVersion !== null) versions[kind] = resourceVersion;
      }
      return stateOf(tables, owners, knownNow(), versions);
    },
    freshness,
    problems: () => {
      const known = knownNow();
      const ofKinds = kindNames.flatMap((kind) => kindProblems(kind, reflectors[kind].status(), known.has(kind)));
      const slow = slowAnswers(kindNames, status(), options.slowAnswerSeconds ?? defaultSlowAnswerSeconds);
      return [...selectors.problems, ...ofKinds, ...slow, ...ownerProblems(owners.lastFailure)];
    },
    status,
    requestsByNode: () => (isFresh(reflectors.pods.status()) ? tables.pods.requestsByNode() : null),
  };
}

function ownerProblems(failure: string | null): readonly Problem[] {
  if (failure === null) return [];
  return [
    {
      source: "kubernetes",
      code: "owners-failing",
      severity: "warning",
      subject: "owners",
      message: `Owners of pods cannot be read, so that some workloads go by the name of their direct owner: ${failure}`,
      nextStep: "Check that the API server answers; it is asked again by itself.",
    },
  ];
}
