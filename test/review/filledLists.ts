import { type AdviceAct, adviceActs } from "../../exporter/model/adviceAct.ts";
import { type Aftermath, aftermathOutcomes } from "../../exporter/model/aftermath.ts";
import { adviceKinds } from "../../exporter/model/recommendation.ts";
import { fillServing } from "./filledServing.ts";
import { type Filler, filled, filledPools, filledTeams } from "./filler.ts";

const day = 86_400;
const firstDay = filled.from / day;
const lastDay = Math.floor(filled.to / day);

/** Fills what is kept by day or one by one: workloads, waits, evictions, node streaks, advice and prices. */
export function fillLists(filler: Filler): void {
  fillWorkloads(filler);
  fillWaits(filler);
  fillEvictions(filler);
  fillStreaks(filler);
  fillAdvice(filler);
  fillPrices(filler);
  fillWithheld(filler);
  fillFaults(filler);
  fillServing(filler);
}

/** Some workloads came back after days and are there twice; some changed their team; some have no queue. */
function fillWorkloads(filler: Filler): void {
  const { db, cluster, chance, pick, insert } = filler;
  const accounts = db
    .prepare(
      "SELECT id, currency, team FROM accounts WHERE team IS NOT NULL AND pool LIKE ? || '%' AND state <> 'unavailable'",
    )
    .all(cluster.prefix)
    .map(({ id, currency, team }) => ({ id: Number(id), isPriced: currency !== null, team }));
  for (let i = 0; i < 60; i += 1) {
    const row = { kind: pick(["Job", "PyTorchJob"]), namespace: `ns-${i % 5}`, name: `${cluster.prefix}job-${i}` };
    if (i % 3 === 0) fillProgress(filler, row, i);
    const ids = Array.from({ length: chance(0.3) ? 2 : 1 }, () => insert("workloads", { ...row, last_day: lastDay }));
    const team = pick(filledTeams);
    const own = accounts.filter((account) => account.team === team || chance(0.05));
    fillWorkloadDays(filler, ids, own, i < 20 ? 1 : 0.2);
  }
}

/** One of two has made something by now; amounts are no draws, so that those of everything else stay. */
function fillProgress(
  { insert }: Filler,
  { kind, namespace, name }: { readonly kind: string; readonly namespace: string; readonly name: string },
  i: number,
): void {
  const value = {
    seenAt: filled.to,
    madeUnits: i % 2 === 0 ? i + 1 : 0,
    costs: [
      ["USD", 40 + i],
      ["EUR", 7],
    ],
  };
  insert("remembered", {
    kind: "progress",
    key: JSON.stringify([kind, namespace, name, `uid-${i}`]),
    value: JSON.stringify(value),
  });
}

function fillWorkloadDays(
  { amount, below, chance, insert, cluster }: Filler,
  ids: readonly number[],
  accounts: readonly { readonly id: number; readonly isPriced: boolean }[],
  size: number,
): void {
  for (let at = cluster.hasLateWorkloads ? firstDay + 14 : firstDay; at <= lastDay; at += 1)
    for (let part = 0; part < 3; part += 1) {
      const account = accounts[below(accounts.length)];
      const workload = ids[at % 9 < 5 ? 0 : ids.length - 1];
      if (account === undefined || workload === undefined || chance(0.6)) continue;
      const gpuSeconds = amount(0, 8 * day) * size;
      insert("workload_time", {
        day: at,
        workload,
        account: account.id,
        gpu_seconds: gpuSeconds,
        estimated_gpu_seconds: 0,
        unmetered_gpu_seconds: 0,
        energy_joules: null,
        cost: account.isPriced ? (gpuSeconds / 3600) * amount(1, 4) : null,
      });
    }
}

function fillWaits({ amount, below, chance, pick, insert }: Filler): void {
  for (let i = 0; i < 40; i += 1) {
    const group = insert("wait_groups", {
      queue: pick(["queue-0", "queue-1", "queue-2", null]),
      team: pick([...filledTeams, null]),
      priority_class: pick(["high", "low", ""]),
      size_class: pick(["<1", "1", "2-7", "8", "9-63", "64+", "unknown"]),
      phase: pick(["total", "total", "start", "admission"]),
      last_day: lastDay,
    });
    for (let at = firstDay; at <= lastDay; at += 1)
      for (let n = 0; n < 2; n += 1) {
        if (chance(0.5)) continue;
        const bucket = below(60);
        const waits = 1 + below(9);
        const [low, high] = [bucket === 0 ? 0 : 2 ** ((bucket - 1) / 4), 2 ** (bucket / 4)];
        insert("waits", { day: at, wait_group: group, bucket, waits, seconds: waits * amount(low, high) });
      }
  }
}

/** Of `vision` nobody knows what evictions cost, of the others sometimes. */
function fillEvictions({ cluster, amount, chance, pick, insert }: Filler): void {
  for (let i = 0; i < 300; i += 1) {
    const team = pick(filledTeams);
    const isKnown = team !== "vision" && chance(0.8);
    insert("evictions", {
      key: `${cluster.prefix}e${i}`,
      at: amount(filled.from, filled.to),
      scheduler: "kueue",
      kind: "Job",
      namespace: `${team}-jobs`,
      name: "train",
      team,
      queue: null,
      priority_class: "low",
      reason: "Preempted",
      is_preemption: chance(0.5) ? 1 : 0,
      preemptor: null,
      preemptor_team: null,
      preemptor_queue: null,
      gpus: chance(0.9) ? 8 : null,
      lost_gpu_seconds: isKnown ? amount(0, 90_000) : null,
      is_upper_bound: 1,
    });
  }
}

/** Streaks that begin before, within and at the ends of weeks, and that last. */
function fillStreaks({ cluster, amount, chance, pick, insert }: Filler): void {
  for (let node = 0; node < 25; node += 1) {
    let at = amount(filled.from, filled.from + 12 * day);
    const pool = filledPools[node % filledPools.length] ?? "";
    while (at < filled.to) {
      const length = chance(0.3) ? amount(10 * day, 30 * day) : amount(3600, 2 * day);
      const ends = at + length >= filled.to ? null : at + length;
      insert("node_streaks", {
        node: `${cluster.prefix}node-${node}`,
        begins: Math.round(at),
        ends: ends === null ? null : Math.round(ends),
        node_pool: `${cluster.prefix}${pool}-nodes`,
        pool: `${cluster.prefix}${pool}`,
        state: pick(["idle_unallocated", "idle_allocated", "cordoned", "not_ready"]),
        gpus: chance(0.9) ? 8 : null,
      });
      at += length + amount(3600, 4 * day);
    }
  }
}

/** Moments at which windows of the tests begin and end, and others. */
const edges = ["2026-10-26", "2026-11-02", "2026-11-01", "2026-10-27"].map((text) => Date.parse(text) / 1000);

/** Causes of lost and slow time by the hour, some of it without a price, and the outages beside it. */
function fillFaults(filler: Filler): void {
  for (const [i, cause] of ["node", "ecc", "gpu_lost", "thermal"].entries())
    for (const currency of [...filler.cluster.currencies, null]) fillHealth(filler, i, cause, currency);
  for (let node = 0; node < 20; node += 1) fillOutages(filler, node);
}

function fillHealth(filler: Filler, i: number, cause: string, currency: string | null): void {
  const { cluster, amount, below, chance, pick, insert } = filler;
  const pool = `${cluster.prefix}${filledPools[i % filledPools.length]}`;
  const team = chance(0.5) ? pick(filledTeams) : null;
  const group = insert("health_groups", { pool, node_pool: `${pool}-nodes`, team, cause, currency, last_day: lastDay });
  for (let hour = filled.from / 3600 + below(90); hour < filled.to / 3600; hour += 1 + below(90)) {
    const cost = currency === null ? null : amount(0, 40);
    insert("health_time", { hour, health_group: group, gpu_seconds: amount(1, 20_000), cost });
  }
}

function fillOutages({ cluster, amount, chance, pick, insert }: Filler, node: number): void {
  let at = amount(filled.from, filled.from + 12 * day);
  while (at < filled.to) {
    const length = chance(0.2) ? amount(3 * day, 12 * day) : amount(600, day);
    const cause = pick(["node", "ecc", "gpu_lost"]);
    insert("outages", {
      node: `${cluster.prefix}node-${node}`,
      gpu: cause === "node" ? "" : `GPU-${node}`,
      begins: at,
      ends: at + length >= filled.to ? null : at + length,
      node_pool: `${cluster.prefix}h100-nodes`,
      pool: `${cluster.prefix}h100`,
      cause,
      gpus: cause === "node" ? 8 : 1,
      teams: pick(["", "ads", "ads,search"]),
    });
    at += length + amount(3600, 4 * day);
  }
}

function fillAdvice({ cluster, amount, chance, pick, insert }: Filler): void {
  for (let i = 0; i < 120; i += 1) {
    const edge = edges[i % edges.length] ?? 0;
    const first = chance(0.1) ? edge : Math.round(amount(filled.from, filled.to));
    const until = chance(0.15) ? edge : first + Math.round(amount(0, 9 * day));
    const state = pick(["open", "taken", "taken", "expired", "dismissed"]);
    const measured = (most: number): number | null => (state === "taken" && chance(0.8) ? amount(0, most) : null);
    insert("recommendations", {
      id: `${cluster.prefix}r-${i % 90}`,
      first_seen: first,
      kind: pick(adviceKinds),
      state,
      closed: state === "open" ? null : Math.min(filled.to, Math.max(first, until)),
      title: `title ${i}`,
      from_team: pick([...filledTeams, ""]),
      for_team: pick([...filledTeams, ""]),
      queue: "",
      pool: `${cluster.prefix}h100`,
      gained_gpus_worst: amount(-1, 30),
      gained_gpus_best: 31,
      lost_gpu_hours: amount(0, 40),
      measured_gpus: measured(30),
      measured_lost_gpu_hours: measured(40),
      record: chance(0.1)
        ? "{}"
        : recordOf(chance(0.2) ? [] : cluster.currencies, amount(0, 9000), {
            act: pick(adviceActs),
            aftermath: chance(0.4)
              ? { outcome: pick(aftermathOutcomes), at: first, regretGpuHours: amount(0, 99) }
              : null,
          }),
    });
  }
}

/** Reasons of node pools and of workloads; one reason comes back after a pause, and a need may have several. */
function fillWithheld({ cluster, amount, pick, insert }: Filler): void {
  for (let i = 0; i < 40; i += 1) {
    const kind = pick(["scale_in", "release_idle"]);
    const own = kind === "scale_in" ? `${cluster.prefix}${pick(filledPools)}-nodes` : `ads/${cluster.prefix}${i % 11}`;
    const id = `w-${cluster.prefix}${i}`;
    let at = Math.round(amount(filled.from, filled.to - 20 * day));
    for (let part = 0; part < 2; part += 1) {
      const ends = at + Math.round(amount(3600, 9 * day));
      insert("withheld_advice", {
        id,
        begins: at,
        ends,
        kind,
        subject: own,
        why: "no-plan",
        reason: `reason ${i} of part ${part}`,
      });
      at = ends + Math.round(amount(3600, day));
    }
  }
}

/** A record with what a report reads in it; a currency may be there twice. */
function recordOf(
  currencies: readonly string[],
  amount: number,
  { act, aftermath }: { readonly act: AdviceAct; readonly aftermath: Aftermath | null },
): string {
  const savingPerWeek = [...currencies, ...currencies.slice(0, 1)].map((currency) => ({ currency, amount }));
  const draft = {
    reason: "because",
    effect: { savingPerWeek },
    cost: { pods: 2, teams: ["ads"], isUpperBound: false },
    confidence: { level: "high", reasons: [] },
    guards: [],
    act,
  };
  return JSON.stringify({ offer: { draft }, closedBecause: null, measured: null, aftermath });
}

function fillPrices({ cluster, amount, chance, pick, insert }: Filler): void {
  for (let i = 0; i < 40; i += 1) {
    const begins = Math.round(amount(filled.from, filled.to));
    const isKnown = chance(0.8);
    insert("price_log", {
      pool: `${cluster.prefix}${pick(filledPools)}`,
      node_pool: "nodes",
      instance_type: null,
      capacity_type: null,
      currency: isKnown ? pick(cluster.currencies) : null,
      basis: pick(["gpu", "whole-instance"]),
      source: pick(["table", "file"]),
      dated: chance(0.7) ? Math.round(filled.from - amount(0, 90 * day)) : null,
      per_gpu_hour: isKnown ? amount(1, 5) : null,
      begins,
      ends: chance(0.5) ? null : begins + Math.round(amount(0, 20 * day)),
    });
  }
}
