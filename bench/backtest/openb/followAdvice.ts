import type { ClusterState } from "../../../exporter/model/cluster.ts";
import type { AdviceStep, Recommendation } from "../../../exporter/model/recommendation.ts";
import { hashText, noise } from "../../../simulator/random.ts";
import { type Engine, lookSeconds } from "../engine.ts";
import { clusterOf, taskOfPod } from "./clusterOf.ts";
import type { LiveCluster } from "./liveCluster.ts";
import { unallocatedGpus } from "./packing.ts";

/** How people follow advice. */
export interface Followers {
  /** Part of the recommendations that are carried out, 0..1; the others are dismissed. */
  readonly obedience: number;
  readonly seed: number;
  /** The most looks at the advice; it ends earlier where nothing is ever offered. */
  readonly rounds: number;
}

/** What one look at the advice came to. */
export interface Round {
  readonly offered: number;
  readonly carriedOut: number;
  /** GPUs by which the allocated ones grew. */
  readonly gainedGpus: number;
}

/** When a replay begins, seconds since the epoch. */
export const startAt = 1_800_000_000;
/** For how long everything that waits has waited when the replay begins, seconds. */
const waitedSeconds = 7200;

/**
 * Looks at the advice once an hour, carries out what is obeyed, and lets the scheduler place what waits. Nothing else comes or
 * ends in the meantime.
 */
export function followAdvice(cluster: LiveCluster, engine: Engine, followers: Followers): readonly Round[] {
  const done: Round[] = [];
  for (let round = 0; round < followers.rounds; round++) {
    const at = startAt + round * lookSeconds;
    const recommendations = engine.advise(stateOf(cluster, at), at);
    const before = unallocatedGpus(cluster.packing);
    let carriedOut = 0;
    for (const recommendation of recommendations) {
      if (noise(hashText(recommendation.id), followers.seed) < followers.obedience) {
        carryOut(cluster, recommendation, at);
        carriedOut += 1;
      } else engine.dismiss(recommendation.id, at);
    }
    done.push({
      offered: recommendations.length,
      carriedOut,
      gainedGpus: before - unallocatedGpus(cluster.packing),
    });
    // Without any advice so far nothing has changed, and the next look would be the same.
    if (done.every(({ offered }) => offered === 0)) break;
  }
  return done;
}

/** The cluster at a moment as the engine reads it. */
function stateOf({ packing, tasks, waiting, since }: LiveCluster, at: number): ClusterState {
  const isWaiting = new Set(waiting.map(({ id }) => id));
  const times = new Map(
    [...tasks.values()].map(
      ({ id, ageSeconds }) =>
        [id, since.get(id) ?? startAt - (isWaiting.has(id) ? waitedSeconds : ageSeconds)] as const,
    ),
  );
  return clusterOf({ packing, tasks, waiting, since: times, at });
}

/** Sends the requests of all steps in their order. A kind of request that a replay does not know would be a silent loss. */
function carryOut(cluster: LiveCluster, { steps }: Recommendation, at: number): void {
  for (const step of steps) {
    send(cluster, step, at);
    cluster.serveWaiting(at);
  }
}

function send(cluster: LiveCluster, { request: { path, body } }: AdviceStep, at: number): void {
  const pod = /\/pods\/([^/]+)\/eviction$/.exec(path)?.[1];
  const task = pod === undefined ? null : taskOfPod(pod);
  if (task !== null) {
    cluster.evict(task, at);
    return;
  }
  const name = /^\/api\/v1\/nodes\/([^/]+)$/.exec(path)?.[1];
  const node = cluster.packing.nodes.findIndex((one) => one.node.name === name);
  if (node < 0) throw new Error(`the replay does not know how to send ${path}`);
  cluster.setCordon(node, JSON.stringify(body).includes('"unschedulable":true'));
}
