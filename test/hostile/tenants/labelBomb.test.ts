import { describe, expect, it } from "vitest";
import { type Accounting, createAccounting } from "../../../exporter/accounts/accounting.ts";
import type { Pod } from "../../../exporter/model/pod.ts";
import { analysisAt } from "../../advice/usage/watchedCluster.ts";
import { gpuNode, gpuPod, namespace, now } from "../../join/clusterBuilder.ts";

const nodes = Array.from({ length: 8 }, (_, i) => gpuNode(`n${i}`, 8));
const cycle = 30;

/** The accounting of a small page, and what one cycle adds to it. */
function play(limits = { teams: 10, series: 2000 }) {
  const accounts = createAccounting({ intervalSeconds: cycle, limits });
  let at = now;
  const queuesOfTeams = new Map<string, Set<string>>();
  const step = (pods: readonly Pod[], seconds = cycle): void => {
    at += seconds;
    const teams = [...new Set(pods.map((one) => one.namespace))].map((name) => namespace(name));
    const analysis = analysisAt({ nodes, pods, namespaces: teams }, at);
    const entry = accounts.account(analysis, { wall: at, monotonic: at });
    for (const { account } of entry?.postings ?? []) {
      if (account.team === null) continue;
      const names = queuesOfTeams.get(account.team) ?? new Set<string>();
      queuesOfTeams.set(account.team, names.add(account.queue ?? ""));
    }
  };
  return { accounts, step, queuesOfTeams };
}

/** Pods with a GPU each, as many as are wanted, and with names of queues that nobody has seen before. */
const bomb = (round: number, count: number, place: (i: number) => string | null): readonly Pod[] =>
  Array.from({ length: count }, (_, i) =>
    gpuPod(`bomb-${round}-${i}`, place(i), 1, {
      namespace: "tenant",
      labels: { "yunikorn.apache.org/queue": `made-up-${round}-${i}` },
    }),
  );
const onNodes = (i: number): string => `n${Math.floor(i / 8)}`;
const late = (parts: Partial<Pod> = {}): Pod => gpuPod("late", "n7", 8, { namespace: "late", ...parts });

/** Label sets of a team in the counter of GPU time. */
const seriesOf = (accounts: Accounting, team: string) =>
  accounts.counters().gpuSeconds.filter(({ labels }) => labels.team === team);

describe("names of queues that a tenant makes up", () => {
  it("leave series for a team that comes later, and for the ledger", () => {
    const { accounts, step, queuesOfTeams } = play();
    for (let round = 0; round < 20; round++) step(bomb(round, 56, onNodes));
    expect(seriesOf(accounts, "other")).toEqual([]);
    for (let round = 20; round < 24; round++) step([...bomb(round, 56, onNodes), late({ labels: { team: "late" } })]);
    expect(seriesOf(accounts, "late").map(({ labels, value }) => [labels.queue, value > 0])).toContainEqual(["", true]);
    expect(queuesOfTeams.get("tenant")?.size).toBeLessThanOrEqual(51);
    expect(queuesOfTeams.get("tenant")).toContain("other");
  });

  it("count as other until others have had no GPUs for an hour, the largest first", () => {
    const { step, queuesOfTeams } = play();
    step(bomb(0, 50, onNodes));
    const own = gpuPod("own", "n7", 4, { namespace: "tenant", labels: { "yunikorn.apache.org/queue": "own" } });
    const small = gpuPod("small", "n7", 1, { namespace: "tenant", labels: { "yunikorn.apache.org/queue": "small" } });
    for (let i = 0; i < 100; i++) step([own, small]);
    expect(queuesOfTeams.get("tenant")).not.toContain("own");
    for (let i = 0; i < 30; i++) step([own, small]);
    expect(queuesOfTeams.get("tenant")).toContain("own");
  });

  it("are kept by what holds most, whatever they are called", () => {
    const { step, queuesOfTeams } = play();
    const queue = (name: string) => ({ namespace: "tenant", labels: { "yunikorn.apache.org/queue": name } });
    for (let cycles = 0; cycles < 2; cycles++) step([...bomb(0, 50, onNodes), gpuPod("own", "n7", 4, queue("z-own"))]);
    expect(queuesOfTeams.get("tenant")).toContain("z-own");
    expect(queuesOfTeams.get("tenant")).toContain("other");
  });

  it("of work that waits take no place", () => {
    const { step, queuesOfTeams } = play();
    for (let round = 0; round < 3; round++) step(bomb(round, 100, () => null));
    const own = { namespace: "tenant", labels: { "yunikorn.apache.org/queue": "z-own" } };
    for (let cycles = 0; cycles < 2; cycles++) step([...bomb(3, 100, () => null), gpuPod("own", "n7", 1, own)]);
    expect(queuesOfTeams.get("tenant")).toEqual(new Set(["z-own"]));
  });

  it("are all reported where there are few", () => {
    const { accounts, step } = play();
    for (let round = 0; round < 3; round++) step(bomb(7, 40, onNodes));
    expect(new Set(seriesOf(accounts, "tenant").map(({ labels }) => labels.queue)).size).toBe(40);
  });

  it("cost no series while their pods wait", () => {
    const { accounts, step } = play();
    step([late()]);
    const before = accounts.counters().queues.waits.length;
    for (let round = 0; round < 5; round++) step([late(), ...bomb(round, 300, () => null)]);
    // The tenant's own queue is one.
    expect(accounts.counters().queues.waits.length - before).toBeLessThanOrEqual(1);
  });
});

describe("the budget of teams", () => {
  const inNamespace = (name: string, node: string): Pod => gpuPod(`of-${name}`, node, 1, { namespace: name });
  const crowd = ["a", "b", "c"].map((name) => inNamespace(name, "n0"));

  it("is given to others when nothing of a team has been counted for an hour, and no series falls", () => {
    const { accounts, step } = play({ teams: 3, series: 2000 });
    step(crowd);
    step(crowd);
    step([late()]);
    step([late()]);
    expect(seriesOf(accounts, "late")).toEqual([]);
    const folded = seriesOf(accounts, "other").reduce((sum, { value }) => sum + value, 0);
    expect(folded).toBe(8 * cycle);
    for (let i = 0; i < 125; i++) step([late()]);
    expect(seriesOf(accounts, "late").some(({ value }) => value > 0)).toBe(true);
    expect(seriesOf(accounts, "other").reduce((sum, { value }) => sum + value, 0)).toBeGreaterThanOrEqual(folded);
    expect(seriesOf(accounts, "a")).toEqual([]);
  });

  it("stays with teams that hold anything, whoever comes", () => {
    const { accounts, step } = play({ teams: 3, series: 2000 });
    step(crowd);
    for (let i = 0; i < 130; i++) step([...crowd, late()]);
    expect(seriesOf(accounts, "late")).toEqual([]);
    for (const team of ["a", "b", "c"])
      expect(seriesOf(accounts, team).reduce((sum, { value }) => sum + value, 0)).toBe(130 * cycle);
  });
});
