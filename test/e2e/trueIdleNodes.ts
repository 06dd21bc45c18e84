import type { Truth, TruthGpu } from "../../simulator/truth.ts";

/** Node-seconds by `KIND/NODE`, and how often a node became idle of that kind, or ceased to be so. */
export interface TrueIdleTime {
  readonly seconds: ReadonlyMap<string, number>;
  readonly changes: ReadonlyMap<string, number>;
}

/** Adds up what is really idle in a simulated cluster, from nothing but the simulator's own words. */
export interface TrueIdleNodes {
  /** What is so now is taken to be so for `seconds`. */
  look(truth: Truth, seconds: number): void;
  /** Sees what is so without counting it: time that nobody counts, or asks for. */
  lookAway(truth: Truth): void;
  readonly time: TrueIdleTime;
}

/** A holder that was never busier than this for so long is idle. */
const idleThreshold = 0.05;
const idleSeconds = 1800;

export function createTrueIdleNodes(): TrueIdleNodes {
  const seconds = new Map<string, number>();
  const changes = new Map<string, number>();
  /** Since when each holder of a GPU has been quiet, by GPU and pod. */
  let quietSince = new Map<string, number>();
  let before: ReadonlySet<string> | null = null;

  function idleNow(truth: Truth): ReadonlySet<string> {
    const next = new Map<string, number>();
    for (const physicalGpu of truth.physicalGpus) {
      for (const { namespace, pod, activity } of physicalGpu.holders) {
        const key = JSON.stringify([physicalGpu.uuid, namespace, pod]);
        if (activity <= idleThreshold) next.set(key, quietSince.get(key) ?? truth.at);
      }
    }
    quietSince = next;
    const physicalGpus = Map.groupBy(truth.physicalGpus, (physicalGpu) => physicalGpu.node);
    return new Set(
      truth.nodes.flatMap(({ name, ready, schedulable }) => {
        const kind = ready && schedulable ? kindOf(physicalGpus.get(name) ?? [], truth.at) : null;
        return kind === null ? [] : [`${kind}/${name}`];
      }),
    );
  }

  function kindOf(physicalGpus: readonly TruthGpu[], at: number): "unallocated" | "allocated" | null {
    const holders = physicalGpus.flatMap((physicalGpu) =>
      physicalGpu.holders.map(({ namespace, pod }) => [physicalGpu.uuid, namespace, pod]),
    );
    if (holders.length === 0) return "unallocated";
    const isIdle = holders.every((holder) => {
      const since = quietSince.get(JSON.stringify(holder));
      return since !== undefined && at - since >= idleSeconds;
    });
    return isIdle ? "allocated" : null;
  }

  function countChanges(now: ReadonlySet<string>): void {
    for (const key of new Set([...(before ?? now), ...now])) {
      if (before !== null && before.has(key) !== now.has(key)) changes.set(key, (changes.get(key) ?? 0) + 1);
    }
    before = now;
  }

  return {
    look(truth, duration) {
      const now = idleNow(truth);
      countChanges(now);
      for (const key of now) seconds.set(key, (seconds.get(key) ?? 0) + duration);
    },
    lookAway(truth) {
      before = idleNow(truth);
    },
    time: { seconds, changes },
  };
}
