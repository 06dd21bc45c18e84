import { describe, expect, it } from "vitest";
import { createAccounting } from "../../exporter/accounts/accounting.ts";
import { accrue } from "../../exporter/accounts/accrue.ts";
import type { AccruedTime, PricesInUse } from "../../exporter/accounts/posting.ts";
import { balanceCosts } from "../../exporter/accounts/selfCheck.ts";
import type { Analysis } from "../../exporter/analysis/analysis.ts";
import type { NodePrice } from "../../exporter/analysis/prices/prices.ts";
import type { Snapshot } from "../../exporter/join/snapshot.ts";
import { buildFamilies } from "../../exporter/publish/families.ts";
import { device, holding, moment, nodeView, podView } from "../analysis/momentBuilder.ts";
import { bareReading, now } from "../join/clusterBuilder.ts";
import { analysed } from "../join/outcomes.ts";
import { health } from "../publish/moment.ts";
import { nodePrice, pricesOf } from "./generatedPrices.ts";

const hour = Math.floor(now / 3600) * 3600;
const limits = { teams: 1000, series: 50_000 };

/** A moment with prices by node; `null` (or nothing): unpriced. */
function at(parts: Partial<Snapshot>, prices: Readonly<Record<string, NodePrice | null>>): Analysis {
  const analysis = analysed(moment(parts));
  return { ...analysis, prices: pricesOf(analysis.snapshot, ({ name }) => prices[name] ?? null) };
}

/** Two nodes with a GPU each; the first pod holds both. */
const twoNodes: Partial<Snapshot> = {
  nodes: [nodeView({ name: "a", devices: [0] }), nodeView({ name: "b", devices: [1] })],
  devices: [
    device({ node: "a", uuid: "GPU-a", activity: 1, holders: [holding({ activity: 1 })] }),
    device({ node: "b", uuid: "GPU-b", activity: 1, holders: [holding({ activity: 1 })] }),
  ],
};

function step(before: Analysis, after: Analysis, seconds = 36, from = hour): AccruedTime {
  return accrue(before, after, { from, to: from + seconds, seconds, intervalSeconds: 30 });
}

/** Cost by state and currency. */
function costs({ postings }: AccruedTime): Record<string, number | null> {
  const sums: Record<string, number | null> = {};
  for (const { account, cost } of postings) {
    const key = `${account.state} ${account.currency}`;
    sums[key] = cost === null ? null : Math.round(((sums[key] ?? 0) + cost) * 1e9) / 1e9;
  }
  return sums;
}

describe("the cost of a step", () => {
  it("is each node's own price times the time, for nodes of one account as well", () => {
    const priced = at(twoNodes, { a: nodePrice({ perGpuHour: 3 }), b: nodePrice({ perGpuHour: 1 }) });
    const accrued = step(priced, priced);
    expect(accrued.postings).toHaveLength(1);
    // (3 + 1) USD an hour for 36 s, which are a hundredth of an hour.
    expect(costs(accrued)).toEqual({ "active USD": 0.04 });
  });

  it("is that of the moment in which the step begins: a new price counts from the next step on", () => {
    const cheap = at(twoNodes, { a: nodePrice({ perGpuHour: 1 }), b: nodePrice({ perGpuHour: 1 }) });
    const dear = at(twoNodes, { a: nodePrice({ perGpuHour: 5 }), b: nodePrice({ perGpuHour: 1 }) });
    expect(costs(step(cheap, dear))).toEqual({ "active USD": 0.02 });
    expect(costs(step(dear, cheap))).toEqual({ "active USD": 0.06 });
  });

  it("is split between active and underutilized like the time", () => {
    const busy = (activity: number): Analysis =>
      at({ devices: [device({ activity, holders: [holding({ activity })] })] }, { n: nodePrice({ perGpuHour: 10 }) });
    expect(costs(step(busy(0.5), busy(0.7)))).toEqual({ "active USD": 0.06, "underutilized USD": 0.04 });
  });

  it("is kept apart by currency, and unknown where there is no price", () => {
    const mixed = at(twoNodes, { a: nodePrice({ perGpuHour: 2, currency: "EUR" }) });
    expect(costs(step(mixed, mixed))).toEqual({ "active EUR": 0.02, "active null": null });
    expect(balanceCosts(step(mixed, mixed), mixed.snapshot, mixed.prices)).toMatchObject([
      { pool: "H100", currency: "EUR", relativeDifference: 0 },
    ]);
  });

  it("of a price of 0 is 0, which is known", () => {
    const own = at({}, { n: nodePrice({ perGpuHour: 0 }) });
    expect(costs(step(own, own))).toEqual({ "idle_node USD": 0 });
  });

  it("goes on for a GPU that fell off the bus: the node costs what it did", () => {
    const node = nodeView({ physicalGpus: 2, allocatableGpus: 1, devices: [0, 1] });
    const allocated = device({ activity: 1, holders: [holding({ activity: 1 })] });
    const lost = device({ uuid: "GPU-lost", unhealthy: true, reading: null, activity: null, idleNow: null });
    const broken = at({ nodes: [node], devices: [allocated, lost] }, { n: nodePrice({ perGpuHour: 2.5 }) });
    const accrued = step(broken, broken);
    expect(costs(accrued)).toEqual({ "active USD": 0.025, "unavailable USD": 0.025 });
    expect(accrued.nodeTimes).toMatchObject([{ currency: "USD", cost: 0.05 }]);
  });

  it("counts parts of GPUs that are no device", () => {
    const cut = at(
      {
        nodes: [nodeView({ devices: [0] })],
        devices: [device({ gpuInstance: "1", weight: 0.5 })],
        unpartitioned: [{ node: "n", uuid: "GPU-0", model: "H100", pool: "H100", weight: 0.5 }],
      },
      { n: nodePrice({ perGpuHour: 4 }) },
    );
    const sum = Object.values(costs(step(cut, cut))).reduce<number>((total, cost) => total + (cost ?? 0), 0);
    expect(sum).toBeCloseTo(0.04, 9);
  });

  it("is divided at the hour like the time", () => {
    const priced = at(twoNodes, { a: nodePrice({ perGpuHour: 4 }) });
    const accrued = step(priced, priced, 36, hour + 3600 - 9);
    const byHour = accrued.postings.map(({ hour: of, cost }) => [of - hour, cost]).filter(([, cost]) => cost !== null);
    expect(byHour).toEqual([
      [0, 0.01],
      [3600, 0.03],
    ]);
  });
});

describe("the accounting", () => {
  const tick = (cycle: number) => ({ wall: now + 30 * cycle, monotonic: 30 * cycle });
  const reading = bareReading("GPU-0", { powerWatts: 600 });
  const busy = (price: NodePrice | null, currencyOfOther = "USD"): Analysis =>
    at(
      {
        nodes: [nodeView({ name: "n" }), nodeView({ name: "b", devices: [1] })],
        devices: [
          device({ activity: 1, reading, holders: [holding({ activity: 1 })] }),
          device({ node: "b", uuid: "GPU-b" }),
        ],
        pods: [podView()],
      },
      { n: price, b: nodePrice({ perGpuHour: 12, currency: currencyOfOther }) },
    );

  /** Series by name, without the cluster. */
  function series(analysis: Analysis, accounts: ReturnType<typeof createAccounting>): Record<string, number> {
    const { families } = buildFamilies({ analysis, health: health(), limits, accounts: accounts.counters() });
    const found: Record<string, number> = {};
    for (const { name, labelNames, series: all } of families) {
      if (!/^fairlead_(cost|unpriced|namespace_cost|co2e)\w*_total$/.test(name)) continue;
      for (const { labelValues, value } of all) {
        const labels = labelNames
          .map((label, i) => `${label}=${labelValues[i]}`)
          .filter((l) => !l.startsWith("cluster="));
        found[`${name.replace("fairlead_", "")} ${labels.filter((l) => !l.endsWith("=")).join(" ")}`] = value;
      }
    }
    return found;
  }

  it("counts cost, unpriced time, cost by namespace and emissions, all from 0 on", () => {
    const accounts = createAccounting({ intervalSeconds: 30, limits, co2GramsPerKwh: 360 });
    const priced = busy(nodePrice({ perGpuHour: 6 }));
    accounts.account(priced, tick(0));
    const first = series(priced, accounts);
    expect(Object.values(first).every((value) => value === 0)).toBe(true);
    accounts.account(priced, tick(1));
    const second = series(priced, accounts);
    expect(Object.keys(second)).toEqual(Object.keys(first));
    expect(second).toMatchObject({
      "cost_total state=active team=vision pool=H100 capacity_type=unknown priority_class=none currency=USD": 0.05,
      "cost_total state=idle_node pool=H100 capacity_type=unknown currency=USD": 0.1,
      "unpriced_gpu_seconds_total pool=H100": 0,
      "namespace_cost_total namespace=research team=vision currency=USD": 0.05,
      // 600 W x 30 s = 18 kJ = 0.005 kWh.
      "co2e_grams_total team=vision pool=H100 state=active": 1.8,
    });
    accounts.account(busy(null), tick(2));
    accounts.account(busy(null), tick(3));
    expect(series(priced, accounts)).toMatchObject({
      "cost_total state=active team=vision pool=H100 capacity_type=unknown priority_class=none currency=USD": 0.1,
      "unpriced_gpu_seconds_total pool=H100": 30,
    });
    expect(accounts.problems()).toEqual([]);
  });

  it("names the pool when states x price is not node price x time", () => {
    const accounts = createAccounting({ intervalSeconds: 30, limits });
    const broken = at({ nodes: [nodeView({ physicalGpus: 2 })] }, { n: nodePrice({ perGpuHour: 6 }) });
    accounts.account(broken, tick(0));
    accounts.account(broken, tick(1));
    const problem = accounts.problems().find(({ code }) => code === "costs-do-not-close");
    expect(problem?.message).toMatch(/^0\.05 USD are counted in pool H100 .* cost 0\.1$/);
  });

  it("has no emissions unless the configuration says what a kWh emits", () => {
    const accounts = createAccounting({ intervalSeconds: 30, limits });
    const priced = busy(null);
    accounts.account(priced, tick(0));
    accounts.account(priced, tick(1));
    expect(Object.keys(series(priced, accounts)).filter((name) => name.startsWith("co2e"))).toEqual([]);
  });

  it("says which prices are in use when that changes, and not when only a price's date does", () => {
    const accounts = createAccounting({ intervalSeconds: 30, limits });
    const used: (PricesInUse | null | undefined)[] = [];
    const see = (cycle: number, price: NodePrice | null): void =>
      void used.push(accounts.account(busy(price), tick(cycle))?.prices);
    see(0, nodePrice({ perGpuHour: 6 }));
    see(1, nodePrice({ perGpuHour: 6 }));
    see(2, nodePrice({ perGpuHour: 6, date: 99 }));
    see(3, null);
    see(4, null);
    expect(used.map((inUse) => inUse?.since ?? null)).toEqual([null, now, null, null, now + 90]);
    expect(used[1]?.prices.map(({ perGpuHour }) => perGpuHour).sort()).toEqual([12, 6]);
    expect(used[4]?.prices.map(({ currency, perGpuHour }) => [currency, perGpuHour])).toEqual([
      [null, null],
      ["USD", 12],
    ]);
  });
});
