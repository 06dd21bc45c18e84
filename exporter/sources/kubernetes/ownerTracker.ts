import type { OwnerObject } from "../../model/cluster.ts";
import type { Pod } from "../../model/pod.ts";
import type { Problem } from "../../model/problem.ts";
import type { ApiClient } from "./apiClient.ts";
import { type Clock, pause, repeat } from "./clock.ts";
import { knownOwner } from "./ownerKinds.ts";
import { createOwnerLookup, type OwnerLimits } from "./owners.ts";
import type { PodTable } from "./podTable.ts";
import type { WantedOwner } from "./readOwner.ts";
import { grantStep } from "./rights.ts";

/** Seconds between two checks of whether pods with GPUs have changed, and whether owners are due. */
const tickSeconds = 2;
/** Seconds between two visits of all owners, in which those whose time has come are read again. */
const refreshSeconds = 60;
/** Seconds for which `start` waits for the owners of the first pods: the first answer should name workloads. */
const firstOwnersSeconds = 15;

/** Keeps the owners of the pods with GPUs of a table up to date. */
export interface OwnerTracker {
  /** Resolves when the owners of the first pods have been read, or after a while. The pods must have been listed before. */
  start(): Promise<void>;
  stop(): Promise<void>;
  owners(): readonly OwnerObject[];
  /** Seconds for which something has been pending; 0 when nothing is, `null` before all owners were read once. */
  ageSeconds(): number | null;
  problems(): readonly Problem[];
}

export function createOwnerTracker(
  client: ApiClient,
  clock: Clock,
  random: () => number,
  limits: OwnerLimits,
  pods: PodTable,
): OwnerTracker {
  const lookup = createOwnerLookup(client, clock, random, limits);
  let trackedRevision = -1;
  let trackedAt = 0;
  let wasReadOnce = false;

  const track = (): void => {
    const now = clock.monotonic();
    const isRetryDue = lookup.pendingSince !== null || now - trackedAt >= refreshSeconds;
    if (pods.gpuRevision === trackedRevision && !isRetryDue) return;
    trackedRevision = pods.gpuRevision;
    trackedAt = now;
    lookup.track(directOwners(pods.gpuPods()));
  };

  const ticking = repeat(clock, tickSeconds, async () => {
    track();
    if (!wasReadOnce && lookup.pending === 0 && pods.revision > 0) wasReadOnce = true;
  });

  return {
    start: async () => {
      track();
      const enough = new AbortController();
      await Promise.race([lookup.idle(), pause(clock, firstOwnersSeconds, enough.signal)]);
      enough.abort();
      await ticking.start();
    },
    stop: async () => {
      await Promise.all([lookup.stop(), ticking.stop()]);
    },
    owners: lookup.owners,
    ageSeconds: () => {
      if (!wasReadOnce) return null;
      return lookup.pendingSince === null ? 0 : clock.monotonic() - lookup.pendingSince;
    },
    problems: () => [...failureProblem(lookup.lastFailure), ...lookup.forbidden.flatMap(forbiddenProblem)],
  };
}

/** The direct owners of pods. Most pods share theirs with others, and in a large cluster this is asked every other second. */
function directOwners(pods: readonly Pod[]): readonly WantedOwner[] {
  const seen = new Map<string, string>();
  const wanted: WantedOwner[] = [];
  for (const { namespace, owner } of pods) {
    if (owner === null || seen.get(owner.uid) === namespace) continue;
    seen.set(owner.uid, namespace);
    wanted.push({ namespace, owner });
  }
  return wanted;
}

function failureProblem(failure: string | null): readonly Problem[] {
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

/**
 * The problem that a known kind of owner may not be read. Owners of other kinds are read where that is allowed, and are no loss
 * where it is not.
 */
function forbiddenProblem(resource: string): readonly Problem[] {
  const kind = knownOwner(resource);
  if (kind === null) return [];
  return [
    {
      source: "kubernetes",
      code: "owners-forbidden",
      severity: "warning",
      subject: resource,
      message: `Fairlead may not get ${resource}, which own pods with GPUs: their workloads go by the last owner that can be read.`,
      nextStep: grantStep("get", resource, kind.right),
    },
  ];
}
