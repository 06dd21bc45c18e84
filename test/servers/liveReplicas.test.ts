import { setTimeout as sleep } from "node:timers/promises";
import { afterAll, beforeAll, describe, test } from "vitest";
import { hasPrometheus } from "../e2e/scrapedByPrometheus.ts";
import { type LiveReplica, type LiveReplicas, startLiveReplicas } from "./liveReplicas.ts";
import { statesOfPools } from "./twoReplicasRules.ts";
import { answersOver } from "./twoReplicasSamples.ts";
import { disturbed, physicalGpus } from "./twoReplicasScenario.ts";

// What twoReplicas.test.ts plays, once each with real processes and a Prometheus that scrapes and evaluates by itself: only that
// the state is reached is asked, since how soon depends on the machine.

if (!hasPrometheus()) process.stderr.write("skipped: prometheus is not installed (Debian package prometheus)\n");

const patienceMilliseconds = 240_000;

describe.skipIf(!hasPrometheus())("two processes, when the one that is read goes", { timeout: 1_200_000 }, () => {
  let live: LiveReplicas;
  beforeAll(async () => {
    live = await startLiveReplicas();
    await until("both are whole", async () => (await whole()) === 2);
  }, 300_000);
  afterAll(async () => await live?.stop());

  async function now(
    query: string,
  ): Promise<readonly { readonly of: Readonly<Record<string, string>>; value: number }[]> {
    const at = Date.now() / 1000;
    return (await answersOver(live.url, query, at, at, 1)).map(({ labels, samples }) => ({
      of: labels,
      value: [...samples.values()][0] ?? Number.NaN,
    }));
  }

  const whole = async (): Promise<number> =>
    (await now(`count(cluster:fairlead_replica:rank{cluster="${disturbed}"} > 0)`))[0]?.value ?? 0;

  const read = async (): Promise<readonly string[]> =>
    (await now(`cluster:fairlead_replica:longest{cluster="${disturbed}"}`)).map(({ of }) => of.instance ?? "");

  async function until(what: string, isSo: () => Promise<boolean>): Promise<void> {
    const deadline = performance.now() + patienceMilliseconds;
    while (!(await isSo())) {
      if (performance.now() > deadline) {
        const logs = await Promise.all(live.replicas.map((replica) => replica.log()));
        throw new Error(`still not: ${what}; read: ${await read()}, whole: ${await whole()}\n${logs.join("\n")}`);
      }
      await sleep(250);
    }
  }

  /** The one that is read, and the other. */
  async function readAndOther(): Promise<readonly [LiveReplica, LiveReplica]> {
    let names: readonly string[] = [];
    await until("one is read", async () => {
      names = await read();
      return names.length === 1;
    });
    const [first, second] = live.replicas;
    return names[0] === first.name ? [first, second] : [second, first];
  }

  async function expectOther(gone: LiveReplica, other: LiveReplica): Promise<void> {
    await until(`${other.name} is read, and not ${gone.name}`, async () => (await read()).join() === other.name);
    const wanted = JSON.stringify([...physicalGpus].toSorted());
    const sums = async (): Promise<string> => {
      const found = await now(`sum by (pool) (${statesOfPools}{cluster="${disturbed}"})`);
      return JSON.stringify(found.map(({ of, value }) => [of.pool ?? "", Math.round(value * 1e6) / 1e6]).toSorted());
    };
    await until(`the states of the pools add up to ${wanted}`, async () => (await sums()) === wanted);
  }

  test("killed: the other is read, and after its restart both are whole", async () => {
    const [gone, other] = await readAndOther();
    await gone.signal("SIGKILL");
    await expectOther(gone, other);
    gone.start();
    await until("both are whole", async () => (await whole()) === 2);
  });

  test("stopped: the other is read, and both are whole when it goes on", async () => {
    const [gone, other] = await readAndOther();
    await gone.signal("SIGSTOP");
    await expectOther(gone, other);
    await gone.signal("SIGCONT");
    await until("both are whole", async () => (await whole()) === 2);
  });

  test("cut off from the Kubernetes API: the other is read, and both are whole when it can be reached again", async () => {
    const [first, second] = live.replicas;
    if ((await readAndOther())[0] !== first) {
      await second.signal("SIGKILL");
      await expectOther(second, first);
      second.start();
      await until("both are whole", async () => (await whole()) === 2);
    }
    live.cutApi();
    await expectOther(first, second);
    live.restoreApi();
    await until("both are whole", async () => (await whole()) === 2);
  });
});
