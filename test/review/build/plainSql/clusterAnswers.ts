import { estimateRunOut } from "../../../../review/runway/estimateRunOut.ts";
import { noteFaults } from "./faultAnswers.ts";
import { coveredSeconds } from "./gpuTimeAnswers.ts";
import {
  type Expected,
  iso,
  noteCosts,
  num,
  numOrNull,
  type Row,
  rowOf,
  rowsOf,
  type SqlQuestion,
  text,
} from "./question.ts";

const day = 86_400;
const week = 7 * day;

/** Demand, runway, idle nodes and fragmentation: what is of a cluster as a whole. */
export function clusterAnswers(question: SqlQuestion): Expected {
  const expected: Expected = new Map();
  const domains = rowsOf(
    question,
    question.days,
    "SELECT domain FROM domain_time WHERE hour >= :from / 3600 AND hour < :to / 3600 GROUP BY domain",
  ).map((row) => text(row, "domain"));
  for (const domain of domains) {
    noteDemand(expected, question, domain);
    noteRunway(expected, question, domain);
  }
  noteNodes(expected, question);
  noteFragmentation(expected, question);
  noteTopology(expected, question);
  noteFaults(expected, question);
  return expected;
}

/** The demand that 95 of 100 covered seconds did not exceed. */
const p95Sql = `WITH hours AS (
    SELECT (allocated_gpu_seconds + pending_gpu_seconds) / seconds AS demand, seconds FROM domain_time
    WHERE domain = :domain AND hour >= :from / 3600 AND hour < :to / 3600),
  running AS (SELECT demand, sum(seconds) OVER (ORDER BY demand ROWS UNBOUNDED PRECEDING) AS below, sum(seconds) OVER () AS whole FROM hours)
  SELECT min(demand) AS p95, max(whole) AS seconds FROM running WHERE below >= 0.95 * whole * (1 - 1e-12)`;

const activeSql = `SELECT sum(gpu_seconds) AS used, count(DISTINCT p.pool) AS pools FROM domain_pools p
  LEFT JOIN accounts a ON a.pool = p.pool AND a.state = 'active'
  LEFT JOIN gpu_time t ON t.account = a.id AND t.daily IN (0, 1) AND t.hour >= :from / 3600 AND t.hour < :to / 3600 WHERE p.domain = :domain`;

const meansSql = `SELECT sum(seconds) AS seconds, sum(capacity_gpu_seconds) / sum(seconds) AS capacity,
    sum(guaranteed_gpu_seconds) / sum(guaranteed_seconds) AS guaranteed, sum(allocated_gpu_seconds) / sum(seconds) AS allocated,
    sum(pending_gpu_seconds) / sum(seconds) AS pending
  FROM domain_time WHERE domain = :domain AND hour >= :from / 3600 AND hour < :to / 3600`;

function noteDemand(expected: Expected, question: SqlQuestion, domain: string): void {
  const { days, now } = question;
  const place = `demand[${domain}]`;
  const folded = rowOf(
    question,
    days,
    "SELECT count(*) AS n FROM gpu_time WHERE daily = 1 AND hour >= :from / 3600 AND hour < :to / 3600",
  );
  const step = num(folded, "n") > 0 || days.to - days.from > 15 * day ? day : 3600;
  expected.set(`${place}.stepSeconds`, step);
  for (let at = days.from; at < Math.min(days.to, now); at += step) {
    const window = { from: at, to: at + step };
    const means = rowOf(question, window, meansSql, { domain });
    const active = rowOf(question, window, activeSql, { domain });
    const isKnown = num(means, "seconds") > 0 && num(active, "pools") > 0;
    for (const name of ["capacity", "guaranteed", "allocated", "pending"])
      expected.set(`${place}.steps[${iso(at)}].${name}`, numOrNull(means, name));
    expected.set(`${place}.steps[${iso(at)}].active`, isKnown ? num(active, "used") / num(means, "seconds") : null);
  }
  noteNode(expected, question, domain);
  expected.set(`${place}.p95DemandGpus`, numOrNull(rowOf(question, days, p95Sql, { domain }), "p95"));
  expected.set(`${place}.meanCapacityGpus`, numOrNull(rowOf(question, days, meansSql, { domain }), "capacity"));
}

/** Waits of a domain's queues: the mean of the bucket in which the 95th of 100 is. */
const waitP95Sql = `WITH buckets AS (
    SELECT bucket, sum(waits) AS waits, sum(seconds) AS seconds FROM waits w JOIN wait_groups g ON g.id = w.wait_group
    WHERE g.phase = 'total' AND w.day >= :from / 86400 AND w.day < :to / 86400 AND coalesce(g.queue, '') IN (
      SELECT q.queue FROM queue_time t JOIN queues q ON q.id = t.queue
      WHERE q.domain = :domain AND t.hour >= :from / 3600 AND t.hour < :to / 3600)
    GROUP BY bucket),
  running AS (SELECT *, sum(waits) OVER (ORDER BY bucket ROWS UNBOUNDED PRECEDING) AS below, sum(waits) OVER () AS whole FROM buckets)
  SELECT max(p95) AS p95 FROM (
    SELECT seconds / waits AS p95 FROM running WHERE waits > 0 AND below >= 0.95 * whole ORDER BY bucket LIMIT 1)`;

/** Queues of a domain that are of others, too. */
const mixedSql = `WITH seen AS (SELECT DISTINCT q.queue, q.domain FROM queue_time t JOIN queues q ON q.id = t.queue
    WHERE t.hour >= :from / 3600 AND t.hour < :to / 3600)
  SELECT count(*) AS queues FROM seen one JOIN seen other ON one.queue = other.queue AND one.domain <> other.domain
  WHERE one.domain = :domain`;

const nodeSql = `SELECT (SELECT sum(gpu_seconds) FROM gpu_time t JOIN accounts a ON a.id = t.account
      WHERE a.pool = :pool AND t.hour >= :from / 3600 AND t.hour < :to / 3600)
    / (SELECT sum(node_seconds) FROM node_time t JOIN node_groups g ON g.id = t.node_group
      WHERE g.pool = :pool AND t.hour >= :from / 3600 AND t.hour < :to / 3600) AS gpus`;

const nodeCostSql = `SELECT g.currency, sum(t.cost) / sum(t.node_seconds) * 3600 * 730 AS cost
  FROM node_time t JOIN node_groups g ON g.id = t.node_group
  WHERE g.pool = :pool AND g.currency IS NOT NULL AND t.hour >= :from / 3600 AND t.hour < :to / 3600 GROUP BY g.currency`;

/** What a node more would have gained is the replay's, which has tests of its own; the filled ledger's waits are no queue's. */
function noteNode(expected: Expected, question: SqlQuestion, domain: string): void {
  const { days } = question;
  const place = `demand[${domain}].oneMoreNode`;
  const pools = rowsOf(question, days, "SELECT pool FROM domain_pools WHERE domain = :domain ORDER BY pool", {
    domain,
  });
  const isMixed = pools.length > 1 || num(rowOf(question, days, mixedSql, { domain }), "queues") > 0;
  expected.set(`${place}.p95Seconds`, isMixed ? null : numOrNull(rowOf(question, days, waitP95Sql, { domain }), "p95"));
  const [first] = pools;
  if (first === undefined) return;
  const pool = text(first, "pool");
  const gpus = numOrNull(rowOf(question, days, nodeSql, { pool }), "gpus");
  const isWhole = gpus !== null && Math.abs(gpus - Math.round(gpus)) <= 0.02 * Math.round(gpus);
  expected.set(`${place}.gpus`, isWhole ? Math.round(gpus) : null);
  for (const row of rowsOf(question, days, nodeCostSql, { pool }))
    expected.set(`${place}.costsPerMonth.${text(row, "currency")}`, num(row, "cost"));
}

/** The weeks by plain SQL; what follows from them is the model's (estimateRunOut), which has tests of its own. */
function noteRunway(expected: Expected, question: SqlQuestion, domain: string): void {
  const { days, now } = question;
  const place = `runway[${domain}]`;
  const at = Math.min(now, days.to);
  const monday = (moment: number): number => Math.floor((moment + 3 * day) / week) * week - 3 * day;
  const first = num(
    rowOf(question, days, "SELECT min(hour) * 3600 AS first FROM domain_time WHERE domain = :domain", { domain }),
    "first",
  );
  const weeks: { from: number; p95DemandGpus: number | null }[] = [];
  for (let from = monday(first); from < monday(at); from += week) {
    const row = rowOf(question, { from, to: from + week }, p95Sql, { domain });
    weeks.push({ from, p95DemandGpus: num(row, "seconds") >= 0.8 * week ? numOrNull(row, "p95") : null });
  }
  for (const { from, p95DemandGpus } of weeks)
    expected.set(`${place}.weeks[${iso(from)}].p95DemandGpus`, p95DemandGpus);
  const last = weeks.findLast(({ p95DemandGpus }) => p95DemandGpus !== null);
  const since = last === undefined ? { from: 0, to: days.to } : { from: last.from, to: last.from + week };
  const capacity = numOrNull(rowOf(question, since, meansSql, { domain }), "capacity");
  const idle = rowOf(question, days, activeSql.replace("'active'", "'idle'"), { domain });
  const recoverable = num(idle, "pools") === 0 ? null : num(idle, "used") / coveredSeconds(question, days);
  const asIs = estimateRunOut(weeks, capacity, at);
  const less = weeks.map(({ from, p95DemandGpus: p95 }) => ({
    from,
    p95DemandGpus: p95 === null ? null : Math.max(0, p95 - (recoverable ?? 0)),
  }));
  expected.set(`${place}.p95DemandGpus`, last?.p95DemandGpus ?? null);
  expected.set(`${place}.capacityGpus`, capacity);
  expected.set(`${place}.trendGpusPerWeek`, asIs.trendGpusPerWeek);
  expected.set(`${place}.recoverableGpus`, recoverable);
  for (const [name, estimate] of [
    ["runsOut", asIs],
    ["runsOutWithoutWaste", estimateRunOut(less, capacity, at)],
  ] as const) {
    if (name === "runsOutWithoutWaste" && recoverable === null) continue;
    for (const end of ["earliest", "likely", "latest"] as const)
      expected.set(`${place}.${name}.${end}`, estimate[end] === null ? null : iso(estimate[end]));
    expected.set(`${place}.${name}.state`, estimate.state);
  }
}

/** Of each need the reason that lasted longest; those beside the most money of idle nodes first. */
function noteNotAdvised(expected: Expected, question: SqlQuestion, source: string): void {
  const { days } = question;
  const needs = rowsOf(
    question,
    days,
    `WITH reasons AS (
       SELECT id, kind, subject, sum(min(ends, :to) - max(begins, :from)) / 3600 AS hours FROM withheld_advice
       WHERE begins < :to AND ends >= :from GROUP BY id),
     idle AS (SELECT node_pool, currency, sum(cost) AS cost FROM ${source} AND g.state = 'idle_unallocated' GROUP BY 1, 2)
     SELECT kind, subject, max(hours) AS hours, count(*) - 1 AS others,
       CASE kind WHEN 'scale_in' THEN coalesce((SELECT max(cost) FROM idle WHERE node_pool = subject), 0) ELSE 0 END AS most
     FROM reasons GROUP BY kind, subject
     UNION ALL
     SELECT 'scale_in', node_pool, 0, 0, max(cost) FROM idle
     WHERE cost > 0 AND node_pool NOT IN (SELECT subject FROM reasons WHERE kind = 'scale_in') GROUP BY node_pool
     ORDER BY most DESC, hours DESC`,
  );
  expected.set("notAdvisedLeftOut", Math.max(0, needs.length - 10));
  for (const row of needs.slice(0, 10)) {
    const place = `notAdvised[${text(row, "kind")}|${text(row, "subject")}]`;
    expected.set(`${place}.hours`, num(row, "hours"));
    expected.set(`${place}.otherReasons`, num(row, "others"));
    const costs = `SELECT currency, sum(cost) AS cost FROM ${source} AND g.state = 'idle_unallocated'
      AND node_pool = :subject AND :kind = 'scale_in' GROUP BY currency`;
    noteCosts(
      expected,
      `${place}.costs`,
      rowsOf(question, days, costs, { subject: text(row, "subject"), kind: text(row, "kind") }),
    );
  }
}

const idleStates = `('idle_unallocated', 'idle_allocated', 'cordoned', 'not_ready', 'warm_unallocated', 'warm_allocated')`;

function noteNodes(expected: Expected, question: SqlQuestion): void {
  const { days } = question;
  const source = `node_time t JOIN node_groups g ON g.id = t.node_group
    WHERE t.daily IN (0, 1) AND t.hour >= :from / 3600 AND t.hour < :to / 3600 AND g.state IN ${idleStates}`;
  const at = (row: Row): string =>
    `idleNodes.pools[${text(row, "node_pool")}|${text(row, "pool")}|${text(row, "state")}]`;
  for (const row of rowsOf(
    question,
    days,
    `SELECT node_pool, pool, state, sum(node_seconds) / 3600 AS hours,
      total(node_seconds) FILTER (WHERE capacity_type = 'reserved') / 3600 AS reserved FROM ${source} GROUP BY 1, 2, 3`,
  )) {
    expected.set(`${at(row)}.nodeHours`, num(row, "hours"));
    expected.set(`${at(row)}.reservedNodeHours`, num(row, "reserved"));
  }
  for (const row of rowsOf(
    question,
    days,
    `SELECT node_pool, pool, state, currency, sum(cost) AS cost FROM ${source} AND capacity_type = 'reserved' GROUP BY 1, 2, 3, 4`,
  ))
    noteCosts(expected, `${at(row)}.reservedCosts`, [row]);
  for (const row of rowsOf(
    question,
    days,
    `SELECT node_pool, pool, state, currency, sum(cost) AS cost FROM ${source} GROUP BY 1, 2, 3, 4`,
  ))
    noteCosts(expected, `${at(row)}.costs`, [row]);
  noteNotAdvised(expected, question, source);
  // The streak of a node in a state that has most of its time in the window, from its own begin.
  const streaks = `WITH seen AS (SELECT max(ends) AS last FROM intervals WHERE gap IS NULL),
    within AS (SELECT node, state, begins, ends, min(coalesce(ends, last), :to) AS until FROM node_streaks, seen
      WHERE begins < :to AND coalesce(ends, last) > :from),
    ranked AS (SELECT *, row_number() OVER (PARTITION BY node, state ORDER BY until - max(begins, :from) DESC) AS place FROM within)
    SELECT node, state, begins, ends, (until - begins) / 3600 AS hours FROM ranked WHERE place = 1 ORDER BY hours DESC, node LIMIT 10`;
  for (const row of rowsOf(question, days, streaks)) {
    const place = `idleNodes.streaks[${text(row, "node")}|${text(row, "state")}]`;
    const ends = numOrNull(row, "ends");
    expected.set(`${place}.hours`, num(row, "hours"));
    expected.set(`${place}.begins`, iso(num(row, "begins")));
    expected.set(`${place}.ends`, ends === null || ends >= days.to ? null : iso(ends));
  }
}

function noteTopology(expected: Expected, question: SqlQuestion): void {
  const sizes = [8, 16, 32, 64, 128, 256];
  const largest = (condition: string): string =>
    `max(0, ${sizes.map((gpus) => `CASE WHEN sum(fitted_${gpus}_seconds) ${condition} THEN ${gpus} ELSE 0 END`).join(", ")})`;
  const sql = `SELECT pool, level, sum(seconds) / 3600 AS hours, ${largest("> 0")} AS largest, ${largest("* 2 >= sum(seconds)")} AS half,
      ${sizes.map((gpus) => `sum(fitted_${gpus}_seconds) / sum(seconds) AS of_${gpus}`).join(", ")}
    FROM topology_time WHERE hour >= :from / 3600 AND hour < :to / 3600 GROUP BY pool, level`;
  for (const row of rowsOf(question, question.days, sql)) {
    const place = `topology[${text(row, "pool")}|${text(row, "level")}]`;
    expected.set(`${place}.hours`, num(row, "hours"));
    expected.set(`${place}.largestGpus`, num(row, "largest"));
    expected.set(`${place}.halfOfTimeGpus`, num(row, "half"));
    for (const gpus of sizes) {
      expected.set(`${place}.gangs[${gpus}].gpus`, gpus);
      expected.set(`${place}.gangs[${gpus}].ratio`, num(row, `of_${gpus}`));
    }
  }
}

function noteFragmentation(expected: Expected, question: SqlQuestion): void {
  const sql = `SELECT pool, sum(free_gpu_seconds) / 3600 AS free, sum(blocked_gpu_seconds) / 3600 AS blocked,
      sum(stranded_gpus_gpu_seconds + stranded_cpu_gpu_seconds + stranded_memory_gpu_seconds
        + stranded_cpu_and_memory_gpu_seconds) / 3600 AS stranded,
      sum(largest_placeable_gpu_seconds) / sum(seconds) AS mean, min(largest_placeable_min) AS min, max(largest_placeable_max) AS max
    FROM placement_time WHERE hour >= :from / 3600 AND hour < :to / 3600 GROUP BY pool`;
  for (const row of rowsOf(question, question.days, sql)) {
    const place = `fragmentation[${text(row, "pool")}]`;
    for (const name of ["free", "stranded", "blocked"]) expected.set(`${place}.${name}GpuHours`, num(row, name));
    for (const name of ["mean", "min", "max"]) expected.set(`${place}.largestPlaceableGpus.${name}`, num(row, name));
  }
}
