import { afterEach, describe, expect, it } from "vitest";
import { queryLedgerTable } from "../../exporter/accounts/ledger/queryLedgerTable.ts";
import { createLedgerQueueHistory } from "../../exporter/history/ledgerHistory.ts";
import { createPrometheusHistory } from "../../exporter/history/prometheusHistory.ts";
import type { QueueHistory } from "../../exporter/history/queueHistory.ts";
import { type Listener, listen } from "../../simulator/listen.ts";
import { entry, queueTime, start } from "../accounts/ledger/entries.ts";
import { ledgerOf } from "../accounts/ledger/memoryLedger.ts";
import { clientOf } from "./contract/client.ts";

const day = 86_400;
const servers: Listener[] = [];
afterEach(async () => {
  await Promise.all(servers.splice(0).map((server) => server.close()));
});

type Series = readonly [labels: Readonly<Record<string, string>>, value: number];

/** What a server has: answers to instant queries, and the course of what was covered. */
async function serverWith(
  instant: (query: string) => readonly Series[],
  course: readonly Series[] = [],
  status = 200,
): Promise<{ readonly queues: QueueHistory; readonly queries: string[] }> {
  const queries: string[] = [];
  const server = await listen((request, response) => {
    const url = new URL(request.url ?? "", "http://server");
    const query = url.searchParams.get("query") ?? "";
    queries.push(query);
    const [from, to, step] = ["start", "end", "step"].map((name) => Number(url.searchParams.get(name)));
    const times = (): number[] =>
      Array.from({ length: 1 + ((to ?? 0) - (from ?? 0)) / (step ?? 1) }, (_, i) => (from ?? 0) + i * (step ?? 1));
    const data = url.pathname.endsWith("query_range")
      ? {
          resultType: "matrix",
          result: course.map(([metric, value]) => ({
            metric,
            values: times().map((at) => [at, `${value * (step ?? 1)}`]),
          })),
        }
      : {
          resultType: "vector",
          result: instant(query).map(([metric, value]) => ({ metric, value: [start + day, `${value}`] })),
        };
    response.writeHead(status, { "content-type": "application/json" });
    response.end(JSON.stringify({ status: "success", data }));
  });
  servers.push(server);
  const scope = { cluster: "harbor", matchers: { job: "fairlead" } };
  const client = clientOf(`http://127.0.0.1:${server.port}`);
  const { queues } = createPrometheusHistory({ client, scope, now: () => start + 30 * day });
  if (queues === undefined) throw new Error("a server knows queues");
  return { queues, queries };
}

/** What the counters of a query say by team; nothing of others. */
const counted = (query: string, amounts: Readonly<Record<string, readonly Series[]>>): readonly Series[] =>
  Object.entries(amounts).find(([name]) => query.includes(`fairlead_${name}_total`))?.[1] ?? [];

const harbor = { cluster: "harbor" };
const oneDay = { from: start, to: start + day };

/** The same queues as a server's counters and in a ledger: of team a an hour, of no team half an hour that was not judged. */
const amounts = {
  covered_seconds: [[{ ...harbor, job: "fairlead" }, day]],
  queue_judged_seconds: [
    [{ ...harbor, team: "a" }, 3600],
    [harbor, 0],
  ],
  queue_allocated_gpu_seconds: [
    [{ ...harbor, team: "a" }, 9000],
    [harbor, 1800],
  ],
  queue_judged_allocated_gpu_seconds: [
    [{ ...harbor, team: "a" }, 8700],
    [harbor, 0],
  ],
  queue_entitled_gpu_seconds: [[{ ...harbor, team: "a" }, 7200]],
  queue_excess_gpu_seconds: [[{ ...harbor, team: "a" }, 1800]],
  queue_shortfall_gpu_seconds: [
    [{ ...harbor, team: "a", cause: "by_others" }, 30],
    [{ ...harbor, team: "a", cause: "idle_gap" }, 60],
    [{ ...harbor, team: "a", cause: "absent_capacity" }, 200],
    [{ ...harbor, team: "a", cause: "indivisible" }, 40],
    [{ ...harbor, cause: "absent_capacity" }, 0],
    [{ ...harbor, cause: "indivisible" }, 0],
  ],
  queue_absent_capacity_gpu_seconds: [
    [{ ...harbor, team: "a", owner: "lost_node" }, 120],
    [{ ...harbor, team: "a", owner: "past_queues" }, 80],
    [{ ...harbor, team: "a", owner: "of a later version" }, 7],
  ],
  queue_pending_gpu_seconds: [
    [{ ...harbor, team: "a" }, 3600],
    [harbor, 5],
  ],
} as const satisfies Readonly<Record<string, readonly Series[]>>;

const noShortfall = {
  shortfallByBorrowers: 0,
  shortfallByIdleGap: 0,
  shortfallByIndivisible: 0,
  shortfallByLostNode: 0,
  shortfallByNodeToCome: 0,
  shortfallByPastQueues: 0,
  shortfallByPromisedTwice: 0,
};

const rows = [
  {
    team: "",
    judgedSeconds: 0,
    allocated: 1800,
    judgedAllocated: 0,
    entitled: 0,
    excess: 0,
    ...noShortfall,
    pending: 5,
  },
  {
    team: "a",
    judgedSeconds: 3600,
    allocated: 9000,
    judgedAllocated: 8700,
    entitled: 7200,
    excess: 1800,
    ...noShortfall,
    shortfallByBorrowers: 30,
    shortfallByIdleGap: 60,
    shortfallByIndivisible: 40,
    shortfallByLostNode: 120,
    shortfallByPastQueues: 80,
    pending: 3600,
  },
];

describe("what queues had, by team", () => {
  it("is the same of a ledger and of a server", async () => {
    const half = { seconds: 1800, judgedSeconds: 1800, allocated: 4500, entitled: 3600, excess: 900 };
    const short = {
      shortfallByBorrowers: 15,
      shortfallByIdleGap: 30,
      shortfallByIndivisible: 20,
      shortfallByLostNode: 60,
      shortfallByPastQueues: 40,
      pending: 1800,
      judgedAllocated: 4350,
    };
    const none = { judgedSeconds: 0, judgedAllocated: 0, entitled: 0, excess: 0, ...noShortfall };
    const queueTimes = [
      queueTime({ ...half, ...short }),
      queueTime({ ...half, ...short, hour: start + 7200, queue: "other" }),
      queueTime({ ...none, team: null, queue: "shared", allocated: 1800, pending: 5 }),
    ];
    const db = ledgerOf([entry({ queueTimes })]);
    const ledger = createLedgerQueueHistory(async (query) => queryLedgerTable(db, query));
    const { queues: server } = await serverWith((query) => counted(query, amounts));
    for (const history of [ledger, server])
      expect(await history.queueTotals({ ...oneDay, team: null })).toEqual({ ok: true, rows });
    expect(await ledger.queueTotals({ ...oneDay, team: "a" })).toEqual({ ok: true, rows: rows.slice(1) });
    expect(await ledger.queueTotals({ ...oneDay, team: "nobody" })).toEqual({ ok: true, rows: [] });
    expect(await ledger.queueTotals({ from: start + day, to: start, team: null })).toMatchObject({ ok: false });
    db.close();
  });

  it("of processes that distinguished fewer causes is unknown for the others, and deviates as it did", async () => {
    const {
      queue_judged_allocated_gpu_seconds: _allocated,
      queue_absent_capacity_gpu_seconds: _owners,
      ...others
    } = amounts;
    const earlier = { ...others, queue_shortfall_gpu_seconds: others.queue_shortfall_gpu_seconds.slice(0, 2) };
    const { queues } = await serverWith((query) => counted(query, earlier));
    const found = await queues.queueTotals({ ...oneDay, team: null });
    const unknown = {
      shortfallByLostNode: null,
      shortfallByNodeToCome: null,
      shortfallByPastQueues: null,
      shortfallByPromisedTwice: null,
      shortfallByIndivisible: null,
    };
    // 7200 entitled, 1800 above it, less 30 and 60 that were short.
    expect(found).toMatchObject({ rows: [{ team: "" }, { team: "a", judgedAllocated: 8910, ...unknown }] });
  });

  it("is asked of a server day by day, of one team where one is named, and once", async () => {
    const { queues, queries } = await serverWith((query) => counted(query, amounts));
    const question = { from: start, to: start + 2 * day, team: 'a"|b' };
    expect(await queues.queueTotals(question)).toMatchObject({ ok: true });
    expect(queries).toHaveLength(2 * 9);
    expect(queries).toContain(
      'sum by (cluster, team) (increase(fairlead_queue_pending_gpu_seconds_total{cluster="harbor", team=~"a\\"\\\\|b", job="fairlead"}[86400s]))',
    );
    expect(
      queries.some((query) => query.startsWith("sum by (cluster, team, cause) (increase(fairlead_queue_shortfall")),
    ).toBe(true);
    await queues.queueTotals(question);
    expect(queries).toHaveLength(2 * 9);
  });

  it("is read of one process where replicas cover the same time", async () => {
    const pods = ["one", "two"].map((pod): Series => [{ ...harbor, job: "fairlead", pod }, day]);
    const { queues, queries } = await serverWith(
      (query) => (query.includes("covered") ? pods : counted(query, amounts)),
      pods.map(([labels]) => [labels, 1]),
    );
    expect(await queues.queueTotals({ ...oneDay, team: null })).toEqual({ ok: true, rows });
    const asked = queries.filter((query) => query.includes("queue_allocated"));
    expect(asked).toHaveLength(1);
    expect(asked[0]).toContain('pod="one"');
  });

  it("without counters of queues is nothing, not 0", async () => {
    const { queues } = await serverWith((query) => counted(query, { covered_seconds: amounts.covered_seconds }));
    expect(await queues.queueTotals({ ...oneDay, team: null })).toEqual({ ok: true, rows: [] });
  });

  it("is not known of a server without Fairlead, with several clusters, or that fails", async () => {
    const empty = await serverWith(() => []);
    expect(await empty.queues.queueTotals({ ...oneDay, team: null })).toMatchObject({ ok: false, isEmpty: true });
    const two = await serverWith(() => [
      [{ cluster: "harbor" }, 1],
      [{ cluster: "fjord" }, 1],
    ]);
    expect(await two.queues.queueTotals({ ...oneDay, team: null })).toMatchObject({
      ok: false,
      error: expect.stringContaining("2 clusters"),
    });
    const failing = await serverWith(() => [], [], 503);
    expect(await failing.queues.queueTotals({ ...oneDay, team: null })).toMatchObject({
      ok: false,
      error: expect.stringContaining("503"),
    });
    expect(await empty.queues.queueTotals({ from: start, to: start, team: null })).toMatchObject({
      ok: false,
      isRefused: true,
    });
  });
});
