import { setTimeout as sleep } from "node:timers/promises";
import { disturbed, type Replica, type ReplicatedCluster, startReplicatedCluster, step } from "./twoReplicasCluster.ts";
import { answersOver } from "./twoReplicasSamples.ts";

/** A time in which a replica could not be read, or could not see the cluster; seconds since the epoch. */
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
const now = (): number => Date.now() / 1000;

/** Kills either replica at random, then each way in which one can go, in an order in which each time the one that is read goes. */
export async function playReplicas(seed: number): Promise<PlayedReplicas> {
  const cluster = await startReplicatedCluster();
  try {
    await whole(cluster, 2);
    // So that rises over the windows of the rules have a beginning.
    await sleep(20_000);
    const from = now();
    const random = randomNumbers(seed);
    const absences: Absence[] = [];
    /** Ends when the page is whole again, and was scraped some times more. */
    const away = async (replica: Replica, begin: () => Promise<void>, seconds: number, end: () => Promise<void>) => {
      const since = now();
      await begin();
      await sleep(seconds * 1000);
      await end();
      await whole(cluster, 2);
      absences.push({ replica: replica.name, from: since, to: now() });
      await sleep((2 + 3 * random()) * step * 1000);
    };
    const kill = (replica: Replica, seconds: number): Promise<void> =>
      away(
        replica,
        () => replica.signal("SIGKILL"),
        seconds,
        async () => replica.start(),
      );
    const [first, second] = cluster.replicas;
    for (let i = 0; i < kills; i++) await kill(random() < 0.5 ? first : second, 2 + 6 * random());
    // From here on the first one is read, then the second one, then the first one again.
    await kill(second, 8);
    const hang = () => first.signal("SIGSTOP");
    await away(first, hang, 6 * step, () => first.signal("SIGCONT"));
    await kill(second, 4);
    // Last of all: what it books without its queues stays in its counters.
    await away(
      first,
      async () => cluster.cutApi(),
      20,
      async () => cluster.restoreApi(),
    );
    await sleep(3 * step * 1000);
    return { cluster, from, to: now(), absences };
  } catch (error) {
    await cluster.stop();
    throw error;
  }
}

/** Waits until so many replicas can be read, with all of their sources. */
async function whole({ url, replicas }: ReplicatedCluster, count: number): Promise<void> {
  const query = `count(cluster:fairlead_replica:rank{cluster="${disturbed}"} > 0)`;
  const deadline = now() + 120;
  for (;;) {
    const at = now();
    const [found] = await answersOver(url, query, at, at, 1);
    if ([...(found?.samples.values() ?? [])].includes(count)) return;
    if (at > deadline) {
      const logs = await Promise.all(replicas.map((replica) => replica.log()));
      throw new Error(`there are not ${count} whole pages:\n${logs.join("\n")}`);
    }
    await sleep(250);
  }
}

/** Numbers 0..1 that are the same for a seed (mulberry32). */
function randomNumbers(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}
