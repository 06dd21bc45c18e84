import { describe, expect, test } from "vitest";
import type { AccountsQuery, AccountsResult } from "../../../exporter/accounts/ledger/accountsQuery.ts";
import type { Outputs } from "../../../exporter/publish/http/outputs.ts";
import {
  ledgerAnswerSchema,
  ledgerPriceAnswerSchema,
  ledgerTableSchema,
} from "../../../exporter/publish/ledger/answerSchema.ts";
import { askApp } from "../askApp.ts";
import { at } from "../moment.ts";

type Ask = (query: AccountsQuery) => Promise<AccountsResult>;

const noAccounts: Ask = () => expect.fail("nobody asked about GPU time");

/** What the API says about a ledger that answers so; without one, no ledger is kept. */
const get = (path: string, ledger?: Ask, others: Pick<Outputs, "ledgerTables" | "ledgerPrices"> = {}) =>
  askApp(path, { ...(ledger === undefined ? {} : { ledger }), ...others });

const sums = {
  gpuSeconds: 3600,
  estimatedGpuSeconds: 0,
  energyJoules: null,
  meteredGpuSeconds: 0,
  costs: new Map([["USD", 4.5]]),
  cost: 4.5,
  pricedGpuSeconds: 3600,
};

const answering =
  (asked: AccountsQuery[]): Ask =>
  async (query) => {
    asked.push(query);
    const { from, to, groupBy } = query;
    const gaps = [{ from, to, reason: "before-ledger" as const }];
    const coverage = { windowSeconds: to - from, coveredSeconds: 0, ratio: 0, gaps, gapsLeftOut: 0 };
    const rows = [{ values: groupBy.map((_, i) => (i === 0 ? "a" : null)), ...sums }];
    return { ok: true, answer: { from, to, groupBy, rows, totalRows: 1, totals: sums, coverage } };
  };

describe("/api/v1/ledger", () => {
  test("passes the question on and returns groups, totals and coverage", async () => {
    const asked: AccountsQuery[] = [];
    const path = "/api/v1/ledger?from=2026-11-01&to=2026-11-08&by=team,queue&pool=h100&pool=a100&queue=&limit=5";
    const { status, body } = await get(path, answering(asked));
    expect(status).toBe(200);
    expect(asked).toEqual([
      {
        from: Date.UTC(2026, 10, 1) / 1000,
        to: Date.UTC(2026, 10, 8) / 1000,
        groupBy: ["team", "queue"],
        where: new Map<string, readonly (string | null)[]>([
          ["pool", ["h100", "a100"]],
          ["queue", [null]],
        ]),
        limit: 5,
      },
    ]);
    expect(ledgerAnswerSchema.safeParse(body).error).toBeUndefined();
    expect(body).toMatchObject({
      from: "2026-11-01T00:00:00Z",
      to: "2026-11-08T00:00:00Z",
      items: [{ team: "a", queue: null, gpuSeconds: 3600, pricedGpuSeconds: 3600, cost: 4.5, costs: { USD: 4.5 } }],
      coverage: { ratio: 0, gaps: [{ reason: "before-ledger" }] },
    });
  });

  test("asks for the last seven days by team and state when nothing is said", async () => {
    const asked: AccountsQuery[] = [];
    await get("/api/v1/ledger", answering(asked));
    const to = Math.ceil(at / 3600) * 3600;
    expect(asked).toEqual([{ from: to - 7 * 86_400, to, groupBy: ["team", "state"], where: new Map(), limit: 1000 }]);
  });

  test.each([
    ["by=pods", "cannot group by"],
    ["owner=x", "cannot choose by"],
    ["from=monday", "is not a time"],
    ["from=1&from=2", "from is given twice"],
    ["limit=0", "limit is not a whole number in range"],
    ["limit=100001", "limit is not a whole number in range"],
    ["state=held_idle", "there is no state"],
    [Array(101).fill("team=a").join("&"), "too many parameters"],
  ])("refuses ?%s", async (query, error) => {
    const never: Ask = () => expect.fail("the ledger must not be asked");
    const { status, body } = await get(`/api/v1/ledger?${query}`, never);
    expect(status).toBe(400);
    expect(body).toMatchObject({ error: expect.stringContaining(error), nextStep: expect.stringMatching(/./) });
  });

  test("distinguishes a question that cannot be answered from a ledger that cannot be read", async () => {
    const failing =
      (fault: "question" | "ledger"): Ask =>
      async () => ({ ok: false, fault, error: "no", nextStep: "try" });
    expect(await get("/api/v1/ledger", failing("question"))).toEqual({
      status: 400,
      body: { error: "no", nextStep: "try" },
    });
    expect(await get("/api/v1/ledger", failing("ledger"))).toMatchObject({ status: 503 });
  });

  test("answers about prices and nodes, each by its own question", async () => {
    const price = {
      pool: "h100",
      nodePool: "gpu",
      instanceType: null,
      capacityType: "spot",
      currency: "USD",
      basis: "whole-instance",
      source: "opencost",
      perGpuHour: 2.25,
      dated: at - 60,
      begins: at,
      ends: null,
    };
    const prices = await get("/api/v1/ledger?of=prices&pool=h100", noAccounts, {
      ledgerPrices: async ({ from, to, where }) => {
        expect(where).toEqual(new Map([["pool", ["h100"]]]));
        return { ok: true, answer: { from, to, rows: [price], totalRows: 1 } };
      },
    });
    expect(ledgerPriceAnswerSchema.safeParse(prices.body).error).toBeUndefined();
    expect(prices.body).toMatchObject({ of: "prices", items: [{ perGpuHour: 2.25, ends: null, instanceType: null }] });
    expect(
      await get("/api/v1/ledger?of=prices&by=pool", noAccounts, { ledgerPrices: async () => expect.fail() }),
    ).toMatchObject({ status: 400, body: { error: "prices are not grouped: each is a row" } });
    const nodes = await get("/api/v1/ledger?of=nodes&state=idle_allocated", noAccounts, {
      ledgerTables: async ({ of, from, to, groupBy }) => {
        const amounts = { nodeSeconds: 3600, pricedNodeSeconds: 3600, cost: 32 };
        const coverage = { windowSeconds: 1, coveredSeconds: 1, ratio: 1, gaps: [], gapsLeftOut: 0 };
        const rows = [{ values: groupBy.map(() => null), amounts }];
        return { ok: true, answer: { of, from, to, groupBy, rows, totalRows: 1, totals: amounts, coverage } };
      },
    });
    expect(ledgerTableSchema.safeParse(nodes.body).error).toBeUndefined();
    expect(nodes.body).toMatchObject({ of: "nodes", items: [{ nodePool: null, cost: 32 }], totals: { cost: 32 } });
    expect(await get("/api/v1/ledger?of=bananas", noAccounts)).toMatchObject({
      status: 400,
      body: {
        nextStep:
          "Use gpu-time, queues, domains, waits, evictions, failures, nodes, nodeStreaks, placement, topology, health, outages, serving, recommendations, prices.",
      },
    });
  });

  test("says that none is kept", async () => {
    expect(await get("/api/v1/ledger")).toMatchObject({ status: 404, body: { error: "no ledger is kept" } });
  });
});
