import type { NodeRequests, ObjectKind } from "../../model/cluster.ts";
import { kaiNames } from "../../model/wellKnown.ts";
import type { Freshness, Source } from "../port.ts";
import type { ApiClient } from "./apiClient.ts";
import { createAutoscalerStatus } from "./autoscalerStatus.ts";
import { type Clock, systemClock } from "./clock.ts";
import type { ConfigMapPlace } from "./configMapReading.ts";
import { decodePod } from "./decodePod.ts";
import { locateKind } from "./discovery.ts";
import { type ExporterSelector, selectorProblems } from "./exporterPods.ts";
import { jsonWire } from "./jsonWire.ts";
import { recordDecoders } from "./kindDecoders.ts";
import { kindProblems, slowAnswers } from "./kindProblems.ts";
import { type ByKind, byKind, type WatchedKindName, watchedKindNames, watchedKinds } from "./kinds.ts";
import { createKindTables, type KindDecoders, type KindRows, type KindWires, type ObjectTables } from "./kindTables.ts";
import { createMonitorReader, type MonitorPlaces } from "./monitors/monitorReader.ts";
import { defaultOwnerLimits, type OwnerLimits } from "./owners.ts";
import { createOwnerTracker } from "./ownerTracker.ts";
import { wireFormats } from "./protobuf/kinds.ts";
import { createEvictionWatch } from "./queues/evictionWatch.ts";
import { createPendingWorkloads } from "./queues/pendingWorkloads.ts";
import { createSchedulerSettings, type SettingsPlaces } from "./queues/schedulerSettings.ts";
import { createReflector, defaultTiming, type Reflector, type ReflectorTiming } from "./reflector.ts";
import type { KindStatus, Restart, StateChange } from "./reflectorStatus.ts";
import { type KubernetesState, stateOf } from "./state.ts";

export interface KubernetesSourceOptions {
  readonly client: ApiClient;
  /** Selectors of the pods that are exporters. */
  readonly exporters: readonly ExporterSelector[];
  /** Selectors of the pods with GPUs whose server is asked for its metrics; by default none. */
  readonly servers?: readonly ExporterSelector[];
  /** Names of extended resources that count as GPUs besides those known by name. */
  readonly gpuResources: readonly string[];
  /** Labels of pods that the configuration names: they are kept even of pods with too many labels. */
  readonly readLabels?: readonly string[];
  /** How long the last good state of a kind is used while it cannot be read. */
  readonly maxAgeSeconds: number;
  /** Label of KAI's Queues and PodGroups that names their node pool; by default KAI's own. */
  readonly kaiNodePoolLabel?: string;
  /** The places of the schedulers' own settings; by default none are read. */
  readonly schedulerSettings?: SettingsPlaces;
  /** The ConfigMap in which the Cluster Autoscaler reports its node groups; by default it is not read. */
  readonly autoscalerStatus?: ConfigMapPlace;
  /** The places in which monitors of the Prometheus operator are read; by default none. */
  readonly monitors?: MonitorPlaces;
  readonly timing?: Partial<ReflectorTiming>;
  readonly ownerLimits?: Partial<OwnerLimits>;
  readonly clock?: Clock;
  /** The clock that decides when owners of pods are read again; by default `clock`. */
  readonly ownerClock?: Clock;
  /** Numbers in [0, 1). */
  readonly random?: () => number;
  /** Called once for each change of a kind's state, for the log. */
  readonly onStateChange?: (change: StateChange) => void;
  /** Called once for each watch or list that is begun anew, for the log. */
  readonly onRestart?: (restart: Restart) => void;
  /** An answer of the API that takes longer than this is a problem. */
  readonly slowAnswerSeconds?: number;
}

/** The source of objects, with what it knows beyond the state of the port. */
export interface KubernetesSource extends Source<KubernetesState> {
  /** The status of reading each kind. */
  status(): ByKind<KindStatus>;
  /**
   * Effective CPU and memory requests of all bound pods that have not ended, with GPUs or without, by node; the same map until
   * a pod changes. `null` while pods are unknown.
   */
  requestsByNode(): ReadonlyMap<string, NodeRequests> | null;
}

/** The part of a kind's age limit for which a watch may be silent; the rest is for opening the watch anew. */
const silenceShare = 0.8;
/** A page of 500 objects takes much less than a second, so an API server that needs this long is in trouble. */
const defaultSlowAnswerSeconds = 5;

const noNodeGroups: KubernetesState["autoscalerNodeGroups"] = [];
const objectKinds: readonly ObjectKind[] = [...watchedKindNames, "owners"];

export function createKubernetesSource(options: KubernetesSourceOptions): KubernetesSource {
  const { client, clock = systemClock, random = Math.random, maxAgeSeconds } = options;
  const wished: ReflectorTiming = { ...defaultTiming, ...options.timing };
  // A dead connection must be noticed before the objects that it delivered are too old to be used.
  const silenceSeconds = Math.min(wished.silenceSeconds, silenceShare * maxAgeSeconds);
  const timing: ReflectorTiming = { ...wished, silenceSeconds };
  const gpuResources: ReadonlySet<string> = new Set(options.gpuResources);
  const evictions = createEvictionWatch(clock);
  const tables = createKindTables(evictions);
  const objectTables: ObjectTables = tables;
  const podProjection = {
    gpuResources,
    exporters: options.exporters,
    servers: options.servers ?? [],
    readLabels: new Set(options.readLabels),
  };
  const decoders: KindDecoders = {
    ...recordDecoders({ gpuResources, kaiNodePoolLabel: options.kaiNodePoolLabel ?? kaiNames.nodePool }),
    pods: (value) => decodePod(value, podProjection),
  };
  const protobufWires: Partial<KindWires> = wireFormats(podProjection);
  const ownerLimits = { ...defaultOwnerLimits, ...options.ownerLimits };
  const owners = createOwnerTracker(client, options.ownerClock ?? clock, random, ownerLimits, tables.pods);
  const settings = createSchedulerSettings(client, clock, options.schedulerSettings ?? {});
  const { autoscalerStatus } = options;
  const autoscaler = autoscalerStatus === undefined ? null : createAutoscalerStatus(client, clock, autoscalerStatus);

  const monitors = options.monitors === undefined ? null : createMonitorReader(client, clock, options.monitors);
  const pendingWorkloads = createPendingWorkloads(client, clock, () => tables.kueueClusterQueues.rows());

  const reflect = <Kind extends WatchedKindName>(kind: Kind): Reflector =>
    createReflector<KindRows[Kind]>({
      kind,
      client,
      clock,
      random,
      timing,
      table: objectTables[kind],
      optional: watchedKinds[kind].optional,
      locate: (signal) => locateKind(client, watchedKinds[kind], signal),
      wire: protobufWires[kind] ?? jsonWire(decoders[kind]),
      onStateChange: options.onStateChange ?? (() => {}),
      ...(options.onRestart === undefined ? {} : { onRestart: options.onRestart }),
    });
  const reflectors = byKind(reflect);
  const status = (): ByKind<KindStatus> => byKind((kind) => reflectors[kind].status());

  const isFresh = (status: KindStatus): boolean => {
    // The absence of a kind is only checked from time to time.
    const allowed = status.state === "absent" ? maxAgeSeconds + timing.slowRetrySeconds : maxAgeSeconds;
    return status.ageSeconds !== null && status.ageSeconds <= allowed;
  };

  const freshnessOf = (kinds: readonly WatchedKindName[], statuses: ByKind<KindStatus>): readonly Freshness[] => {
    const parts: Freshness[] = kinds.map((kind) => {
      const status = statuses[kind];
      return { part: kind, ageSeconds: status.ageSeconds, fresh: isFresh(status) };
    });
    const ageSeconds = owners.ageSeconds();
    const arePodsFresh = isFresh(statuses.pods);
    return [
      ...parts,
      { part: "owners", ageSeconds, fresh: arePodsFresh && ageSeconds !== null && ageSeconds <= maxAgeSeconds },
    ];
  };

  const knownNow = (): ReadonlySet<ObjectKind> => {
    const fresh = new Set(freshnessOf(watchedKindNames, status()).flatMap(({ part, fresh }) => (fresh ? [part] : [])));
    return new Set(objectKinds.filter((kind) => fresh.has(kind)));
  };

  const versionsNow = (): KubernetesState["resourceVersions"] => {
    const versions: Partial<Record<ObjectKind, string>> = {};
    for (const kind of watchedKindNames) {
      const { resourceVersion } = reflectors[kind].status();
      if (resourceVersion !== null) versions[kind] = resourceVersion;
    }
    return versions;
  };

  return {
    name: "kubernetes",
    start: async () => {
      await Promise.all([
        ...watchedKindNames.map((kind) => reflectors[kind].start()),
        settings.start(),
        autoscaler?.start(),
        monitors?.start(),
      ]);
      // No part of a cycle waits for these.
      void pendingWorkloads.start();
      await owners.start();
    },
    stop: async () => {
      const reading = watchedKindNames.map((kind) => reflectors[kind].stop());
      const others = [owners, settings, autoscaler, monitors, pendingWorkloads];
      await Promise.all([...reading, ...others.map((one) => one?.stop())]);
    },
    read: () =>
      stateOf({
        tables,
        owners: owners.owners,
        evictions: evictions.evictions(),
        schedulerSettings: settings.read(),
        kueuePendingWorkloads: pendingWorkloads.read(),
        autoscalerNodeGroups: autoscaler?.read() ?? noNodeGroups,
        monitors: monitors?.read() ?? null,
        known: knownNow(),
        resourceVersions: versionsNow(),
      }),
    // A kind that this cluster does not have is ignored, however long ago that was checked.
    freshness: () => {
      const statuses = status();
      return freshnessOf(
        watchedKindNames.filter((kind) => statuses[kind].state !== "absent"),
        statuses,
      );
    },
    problems: () => {
      const known = knownNow();
      const statuses = status();
      const ofKinds = watchedKindNames.flatMap((kind) => kindProblems(kind, statuses[kind], known.has(kind)));
      const slow = slowAnswers(watchedKindNames, statuses, options.slowAnswerSeconds ?? defaultSlowAnswerSeconds);
      return [
        ...selectorProblems(options.exporters),
        ...ofKinds,
        ...slow,
        ...owners.problems(),
        ...settings.problems(),
        ...(autoscaler?.problems() ?? []),
        ...(monitors?.problems() ?? []),
      ];
    },
    status,
    requestsByNode: () => (isFresh(reflectors.pods.status()) ? tables.pods.requestsByNode() : null),
  };
}
