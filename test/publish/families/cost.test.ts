import fc from "fast-check";
import { describe, expect, test } from "vitest";
import type { AccountingEntry } from "../../../exporter/analysis/accountingEntry.ts";
import type { Analysis } from "../../../exporter/analysis/analysis.ts";
import { allocatedStates, unallocatedStates } from "../../../exporter/model/gpuStates.ts";
import { buildDocument } from "../../../exporter/publish/document/buildDocument.ts";
import { documentSchema } from "../../../exporter/publish/document/schema.ts";
import { buildFamilies, type PageLimits } from "../../../exporter/publish/families.ts";
import { renderPage } from "../../../exporter/publish/prometheus/render.ts";
import { money } from "../../../exporter/publish/terminal/costText.ts";
import { overview } from "../../../exporter/publish/terminal/overview.ts";
import { entriesOf } from "../../analysis/entriesOf.ts";
import { health, node, pod, smallMoment, workload } from "../moment.ts";
import { nodePrice, pricedMoment, withPrices } from "../pricedMoment.ts";
import { readPage } from "../readPage.ts";

const limits: PageLimits = { teams: 1000, series: 50_000 };
const charged = allocatedStates.filter((state) => state !== "idle");

function samplesOf(moment: Analysis, own: PageLimits = limits) {
  return readPage(renderPage(buildFamilies({ analysis: moment, health: health(), limits: own }).families).toString());
}

type Samples = ReturnType<typeof samplesOf>;

function sum(samples: Samples, name: string, labels: Readonly<Record<string, string>> = {}): number {
  return samples
    .filter(
      (one) => one.name === name && Object.entries(labels).every(([label, value]) => one.labels.get(label) === value),
    )
    .reduce((total, one) => total + one.value, 0);
}

const nodeNames = ["n0", "n1", "n2", "n3"] as const;
const names = ["a", "b", "c"] as const;

/** A moment with accounting entries of any kind on four nodes: two priced in USD, one in EUR, one not at all. */
const moments = fc
  .record({
    prices: fc.tuple(...[0, 1, 2].map(() => fc.integer({ min: 0, max: 4000 }).map((cents) => cents / 100))),
    pods: fc.array(
      fc.record({
        team: fc.constantFrom(...names),
        namespace: fc.constantFrom(...names),
        queue: fc.constantFrom(...names, null),
        workload: fc.integer({ min: 0, max: 3 }),
      }),
      { minLength: 1, maxLength: 8 },
    ),
    parts: fc.array(
      fc.record({
        node: fc.constantFrom(...nodeNames),
        gpus: fc.integer({ min: 1, max: 64 }).map((eighths) => eighths / 8),
        pod: fc.option(fc.nat(7)),
        allocated: fc.constantFrom(...allocatedStates, "unavailable" as const),
        unallocated: fc.constantFrom(...unallocatedStates),
      }),
      { minLength: 1, maxLength: 60 },
    ),
  })
  .map(({ prices, pods, parts }) => {
    const views = pods.map((of) => pod(of));
    const accountingEntries = parts.map(
      (part): AccountingEntry => ({
        gpus: part.gpus,
        state: part.pod === null ? part.unallocated : part.allocated,
        node: part.node,
        pool: part.node === "n2" ? "A100" : "H100",
        device: null,
        pod: part.pod === null ? null : part.pod % views.length,
        estimated: false,
      }),
    );
    const gpusOf = (name: string) =>
      accountingEntries.filter((one) => one.node === name).reduce((all, one) => all + one.gpus, 0);
    const nodes = nodeNames.map((name) =>
      node({ name, nodePool: `pool-${name}`, pools: [name === "n2" ? "A100" : "H100"], physicalGpus: gpusOf(name) }),
    );
    const [first = 0, second = 0, third = 0] = prices;
    const moment = {
      ...smallMoment,
      accountingEntries: entriesOf(accountingEntries),
      teams: names.map((team) => ({
        team,
        allocated: accountingEntries.reduce(
          (all, one) => all + (one.pod !== null && views[one.pod]?.team === team ? one.gpus : 0),
          0,
        ),
        active: 0,
        utilization: null,
        states: {},
        estimated: 0,
        idleOptedOut: 0,
        pending: 0,
      })),
      snapshot: {
        ...smallMoment.snapshot,
        nodes,
        pods: views,
        workloads: [0, 1, 2, 3].map((index) => workload({ name: `job-${index}` })),
        devices: [],
      },
    };
    return withPrices(moment, {
      n0: nodePrice({ perGpuHour: first }),
      n1: nodePrice({ perGpuHour: second }),
      n2: nodePrice({ perGpuHour: third, currency: "EUR" }),
    });
  });

/** What the accounting entries that pass cost, one by one. */
function costOf(moment: Analysis, currency: string, passes: (accountingEntry: AccountingEntry) => boolean): number {
  return moment.accountingEntries.list.filter(passes).reduce((total, accountingEntry) => {
    const price = moment.prices.byNode.get(accountingEntry.node);
    return total + (price?.currency === currency ? accountingEntry.gpus * price.perGpuHour : 0);
  }, 0);
}

describe("cost rates", () => {
  test("states add up to the prices of the nodes; what teams pay, what is not charged and what nobody holds to all", () => {
    fc.assert(
      fc.property(moments, fc.constantFrom(1, 2, 1000), (moment, teams) => {
        const samples = samplesOf(moment, {
          ...limits,
          teams,
          cost: { notCharged: ["idle"], topWorkloads: 1000 },
        });
        for (const currency of ["USD", "EUR"]) {
          const all = sum(samples, "fairlead_cost_per_hour", { currency });
          const ofNodes = moment.snapshot.nodes.reduce((total, { name, physicalGpus }) => {
            const price = moment.prices.byNode.get(name);
            return total + (price?.currency === currency ? price.perGpuHour * (physicalGpus ?? 0) : 0);
          }, 0);
          expect(all).toBeCloseTo(ofNodes, 6);
          const unallocated = sum(samples, "fairlead_unallocated_cost_per_hour", { currency });
          expect(unallocated).toBeCloseTo(
            costOf(moment, currency, ({ pod: holder }) => holder === null),
            6,
          );
          const idle = costOf(moment, currency, ({ pod: holder, state }) => holder !== null && state === "idle");
          for (const owner of ["team", "queue", "namespace"]) {
            const paid = sum(samples, `fairlead_${owner}_cost_per_hour`, { currency, charge: "allocation" });
            expect(paid + unallocated + idle).toBeCloseTo(all, 6);
            const used = sum(samples, `fairlead_${owner}_cost_per_hour`, { currency, charge: "use" });
            expect(used).toBeCloseTo(
              costOf(moment, currency, ({ state }) => state === "active"),
              6,
            );
          }
          expect(sum(samples, "fairlead_workload_cost_per_hour", { currency })).toBeCloseTo(all - unallocated, 6);
        }
        expect(sum(samples, "fairlead_series_dropped")).toBe(0);
      }),
      { seed: 3, numRuns: 60 },
    );
  });

  test("each team pays for what its own pods hold in charged states", () => {
    fc.assert(
      fc.property(moments, (moment) => {
        const samples = samplesOf(moment, {
          ...limits,
          cost: { notCharged: ["idle", "unavailable"], topWorkloads: 3 },
        });
        for (const team of names) {
          const own = costOf(moment, "USD", ({ pod: holder, state }) => {
            const isCharged = charged.some((one) => one === state);
            return holder !== null && moment.snapshot.pods[holder]?.team === team && isCharged;
          });
          const labels = { team, currency: "USD", charge: "allocation" };
          expect(sum(samples, "fairlead_team_cost_per_hour", labels)).toBeCloseTo(own, 6);
        }
        expect(samples.filter(({ name }) => name === "fairlead_workload_cost_per_hour").length).toBeLessThanOrEqual(3);
      }),
      { seed: 4, numRuns: 40 },
    );
  });

  test("of a small cluster in which one node has a price", () => {
    const samples = samplesOf(pricedMoment);
    expect(sum(samples, "fairlead_cost_per_hour", { state: "active", pool: "H100" })).toBe(1.5);
    expect(sum(samples, "fairlead_cost_per_hour", { state: "free", node_pool: "train" })).toBe(2);
    expect(sum(samples, "fairlead_team_cost_per_hour", { team: "ads", charge: "allocation" })).toBe(2);
    expect(sum(samples, "fairlead_team_cost_per_hour", { team: "ads", charge: "use" })).toBe(1.5);
    const workloads = samples.filter(({ name }) => name === "fairlead_workload_cost_per_hour");
    expect(workloads.map(({ labels, value }) => [labels.get("workload"), labels.get("namespace"), value])).toEqual([
      ["Job/train", "ads", 2],
    ]);
    expect(sum(samples, "fairlead_cost_per_hour", { pool: "L4" })).toBe(0);
  });

  test("are absent where nothing has a price", () => {
    const found = samplesOf(smallMoment).filter(({ name }) => /_cost_per_hour$/.test(name));
    expect(found).toEqual([]);
  });
});

describe("costs in the document", () => {
  test("say what each team and workload holds costs, and what that leaves out", () => {
    const document = documentSchema.parse(buildDocument(pricedMoment));
    expect(document.cost).toEqual({
      currency: "USD",
      perHour: 4,
      allocatedPerHour: 2,
      unallocatedPerHour: 2,
      unpricedGpus: 1,
      byCurrency: [{ currency: "USD", perHour: 4, allocatedPerHour: 2, unallocatedPerHour: 2 }],
    });
    const teams = document.teams.map(({ team, costPerHour, unpricedGpus }) => [team, costPerHour, unpricedGpus]);
    expect(teams).toContainEqual(["ads", 2, 0]);
    expect(teams.filter(([, , unpriced]) => unpriced === 0.5)).toHaveLength(1);
    expect(document.workloads.map(({ name, costPerHour }) => [name, costPerHour])).toContainEqual(["train", 2]);
  });

  test("are unknown where nothing has a price, and then all GPUs are unpriced", () => {
    const document = documentSchema.parse(buildDocument(smallMoment));
    expect(document.cost).toMatchObject({ currency: null, perHour: null, unpricedGpus: 3, byCurrency: [] });
    expect(
      document.teams.every(
        ({ costPerHour, allocated, unpricedGpus }) => costPerHour === null && unpricedGpus === allocated,
      ),
    ).toBe(true);
  });

  test("add up: teams to what is allocated, and that with the rest to all", () => {
    fc.assert(
      fc.property(moments, (moment) => {
        const { cost, workloads } = buildDocument(moment);
        const ofWorkloads = workloads.reduce((total, one) => total + (one.costPerHour ?? 0), 0);
        expect(ofWorkloads).toBeCloseTo(cost.allocatedPerHour ?? 0, 6);
        const gpus = moment.accountingEntries.list.reduce((total, one) => total + one.gpus, 0);
        const priced = moment.accountingEntries.list.filter((one) => moment.prices.byNode.has(one.node));
        expect(cost.unpricedGpus).toBeCloseTo(gpus - priced.reduce((total, one) => total + one.gpus, 0), 9);
        for (const { currency, perHour } of cost.byCurrency)
          expect(perHour).toBeCloseTo(
            costOf(moment, currency, () => true),
            6,
          );
      }),
      { seed: 8, numRuns: 40 },
    );
  });
});

describe("costs in a terminal", () => {
  test("are beside the teams, with where prices come from above and what nobody holds below", () => {
    const text = overview(pricedMoment);
    expect(text).toContain("prices: your file of 2026-11-20, whole-instance   no price for 1.0 GPUs");
    expect(text).toMatch(/^ {2}ads .* \$ 2\.00$/m);
    expect(text).toMatch(/^ +\+ \$ 2\.00 not allocated$/m);
    expect(text.split("\n").every((line) => line.length <= 100)).toBe(true);
  });

  test("are not spoken of where nothing has a price", () => {
    const text = overview(smallMoment);
    expect(text).not.toContain("cost/h");
    expect(text).not.toContain("prices:");
  });

  test.each([
    [9.5, "USD", "$ 9.50"],
    [1320.4, "USD", "$ 1,320"],
    [12.3, "EUR", "EUR 12.30"],
    [0, "USD", "$ 0.00"],
  ])("%d %s is written %s", (amount, currency, text) => {
    expect(money(amount, currency)).toBe(text);
  });
});
