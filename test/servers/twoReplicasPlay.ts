import { createRandomStream } from "../../simulator/random.ts";
import { type Replica, type ReplicatedCluster, startReplicatedCluster } from "./twoReplicasCluster.ts";

/** A time in which a replica could not be read, or could not see the cluster; played seconds since the epoch. */
export interface Absence {
  readonly replica: string;
  readonly from: number;
  /** When its page was whole again. */
  readonly to: number;
}

/** What was done to the replicas, and when. */
export interface PlayedReplicas {
  readonly cluster: ReplicatedCluster;
  readonly from: number;
  readonly to: number;
  /** In order of time, never two at once. */
  readonly absences: readonly Absence[];
}

const kills = 3;
/** So that rises have a beginning: of a series of fewer samples, much of a rise would be what Prometheus guesses. */
const stepsBefore = 10;
/** A page is whole long before that, or never. */
const mostSteps = 60;

/** Kills either replica at random, then each way in which one can go, in an order in which each time the one that is read goes. */
export async function playReplicas(seed: number): Promise<PlayedReplicas> {
  const cluster = await startReplicatedCluster();
  try {
    const pass = async (steps: number): Promise<void> => {
      for (let i = 0; i < steps; i++) await cluster.step();
    };
    await bothWhole(cluster);
    await pass(stepsBefore);
    const from = cluster.now();
    const random = createRandomStream(seed);
    const upTo = (steps: number): number => Math.floor((steps + 1) * random.next());
    const absences: Absence[] = [];
    /** Ends when the page is whole again, and was scraped so often that it may be read as well as the other. */
    const away = async (
      replica: Replica,
      begin: () => Promise<void> | void,
      steps: number,
      end: () => Promise<void> | void,
    ) => {
      const since = cluster.now();
      await begin();
      await pass(steps);
      await end();
      await bothWhole(cluster);
      absences.push({ replica: replica.name, from: since, to: cluster.now() });
      await pass(stepsBefore + upTo(3));
    };
    const kill = (replica: Replica, steps: number): Promise<void> => away(replica, replica.kill, steps, replica.start);
    const [first, second] = cluster.replicas;
    for (let i = 0; i < kills; i++) await kill(random.next() < 0.5 ? first : second, 1 + upTo(3));
    // From here on the first one is read, then the second one, then the first one again.
    await kill(second, 5);
    await away(first, first.hang, 6, first.goOn);
    await kill(second, 3);
    // Last of all: what it counts without its queues stays in its counters.
    await away(first, cluster.cutApi, 10, cluster.restoreApi);
    await pass(3);
    const to = cluster.now();
    await cluster.record(from, to);
    return { cluster, from, to, absences };
  } catch (error) {
    await cluster.stop();
    throw error;
  }
}

/** Lets time pass until both replicas can be read, with all of their sources. */
async function bothWhole(cluster: ReplicatedCluster): Promise<void> {
  for (let steps = 0; steps < mostSteps; steps++) {
    await cluster.step();
    if ((await cluster.whole()) === 2) return;
  }
  throw new Error(`there are ${await cluster.whole()} whole pages after ${mostSteps} steps, not 2`);
}
