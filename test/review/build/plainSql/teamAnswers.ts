import { coveredSeconds } from "./gpuTimeAnswers.ts";
import {
  type Expected,
  gpuTime,
  noteCosts,
  num,
  numOrNull,
  type Row,
  rowOf,
  rowsOf,
  type SqlQuestion,
  seenStates,
  text,
  wastedStates,
} from "./question.ts";

const day = 86_400;

/** The table of teams, waits and jobs. */
export function teamAnswers(question: SqlQuestion): Expected {
  const expected: Expected = new Map();
  noteAllocated(expected, question);
  noteQueues(expected, question);
  noteTeamCounts(expected, question);
  noteWaitTables(expected, question);
  for (const budget of question.budgets) noteBudget(expected, question, budget);
  return expected;
}

const charged = (notCharged: readonly string[]): string =>
  `state IN ('active', 'underutilized', 'idle', 'stalled', 'starting', 'gang_wait', 'unobserved', 'unavailable')
   AND state NOT IN (${notCharged.map((state) => `'${state}'`).join(", ")})`;

/** Teams that held anything or whose queues had anything. */
function teamsOf(question: SqlQuestion): readonly string[] {
  const sql = `SELECT team FROM (SELECT a.team AS team FROM ${gpuTime} UNION SELECT q.team FROM queue_time t
      JOIN queues q ON q.id = t.queue WHERE t.daily IN (0, 1) AND t.hour >= :from / 3600 AND t.hour < :to / 3600 AND (:team IS NULL OR q.team = :team))
    WHERE team IS NOT NULL`;
  return rowsOf(question, question.days, sql).map((row) => text(row, "team"));
}

function noteAllocated(expected: Expected, question: SqlQuestion): void {
  const { days, notCharged } = question;
  for (const name of teamsOf(question)) {
    const one = { ...question, team: name };
    const row = rowOf(
      one,
      days,
      `SELECT sum(gpu_seconds) / 3600 AS allocated, sum(gpu_seconds) FILTER (WHERE state = 'active') / 3600 AS active,
         sum(gpu_seconds) FILTER (WHERE state IN ${seenStates}) / 3600 AS judged,
         sum(gpu_seconds) FILTER (WHERE state = 'idle') / 3600 AS idle,
         sum(gpu_seconds) FILTER (WHERE state = 'stalled') / 3600 AS stalled,
         sum(gpu_seconds) FILTER (WHERE state = 'underutilized') / 3600 AS underutilized,
         sum(gpu_seconds) FILTER (WHERE state NOT IN ('starting', 'gang_wait', 'unavailable')) / 3600 AS whole FROM ${gpuTime}`,
    );
    const place = `teams[${name}]`;
    for (const amount of ["allocated", "active", "judged", "idle", "stalled", "underutilized", "whole"])
      expected.set(`${place}.${amount}`, num(row, amount));
    expected.set(`${place}.utilization`, num(row, "judged") > 0 ? num(row, "active") / num(row, "judged") : null);
    for (const [costs, states] of [
      ["costs", charged(notCharged)],
      ["wasteCosts", `state IN ${wastedStates}`],
    ] as const)
      noteCosts(
        expected,
        `${place}.${costs}`,
        rowsOf(one, days, `SELECT currency, sum(cost) AS cost FROM ${gpuTime} AND ${states} GROUP BY currency`),
      );
  }
}

const laterCauses = [
  "shortByLostNode",
  "shortByNodeToCome",
  "shortByPastQueues",
  "shortByPromisedTwice",
  "shortByIndivisible",
] as const;

function noteQueues(expected: Expected, question: SqlQuestion): void {
  const sql = `SELECT sum(judged_seconds) AS judged, sum(entitled_gpu_seconds) / 3600 AS entitled,
      sum(judged_allocated_gpu_seconds - entitled_gpu_seconds) / 3600 AS deviation,
      sum(short_by_others_gpu_seconds) / 3600 AS shortByOthers, sum(short_by_idle_gap_gpu_seconds) / 3600 AS shortByIdleGap,
      sum(short_by_lost_node_gpu_seconds) / 3600 AS shortByLostNode,
      sum(short_by_node_to_come_gpu_seconds) / 3600 AS shortByNodeToCome,
      sum(short_by_past_queues_gpu_seconds) / 3600 AS shortByPastQueues,
      sum(short_by_promised_twice_gpu_seconds) / 3600 AS shortByPromisedTwice,
      sum(short_indivisible_gpu_seconds) / 3600 AS shortByIndivisible
    FROM queue_time t JOIN queues q ON q.id = t.queue WHERE t.daily IN (0, 1) AND t.hour >= :from / 3600 AND t.hour < :to / 3600 AND q.team = :team`;
  for (const team of teamsOf(question)) {
    const row = rowOf({ ...question, team }, question.days, sql);
    for (const name of ["entitled", "deviation", "shortByOthers", "shortByIdleGap", ...laterCauses])
      expected.set(`teams[${team}].${name}`, num(row, "judged") > 0 ? num(row, name) : null);
  }
}

function noteTeamCounts(expected: Expected, question: SqlQuestion): void {
  const { days } = question;
  for (const team of teamsOf(question)) {
    const one = { ...question, team };
    const undone = (table: "evictions" | "failures") =>
      rowOf(
        one,
        days,
        `SELECT count(*) AS count, sum(lost_gpu_seconds) / 3600 AS lost FROM ${table} WHERE at >= :from AND at < :to AND team = :team`,
      );
    const [evicted, failed] = [undone("evictions"), undone("failures")];
    expected.set(`teams[${team}].evictions`, num(evicted, "count"));
    expected.set(`teams[${team}].lostToEvictions`, num(evicted, "count") === 0 ? 0 : numOrNull(evicted, "lost"));
    expected.set(`teams[${team}].lostToFailures`, num(failed, "count") === 0 ? 0 : numOrNull(failed, "lost"));
    const jobs = rowOf(
      one,
      days,
      `SELECT count(DISTINCT w.kind || '/' || w.namespace || '/' || w.name) AS count FROM workload_time t
         JOIN accounts a ON a.id = t.account JOIN workloads w ON w.id = t.workload
       WHERE t.day >= :from / ${day} AND t.day < :to / ${day} AND a.team = :team`,
    );
    expected.set(`teams[${team}].jobs`, areWorkloadsKept(question) ? num(jobs, "count") : null);
    noteWaits(expected, `teams[${team}].waits`, question, "g.team = :wanted", team);
  }
}

/** Whether workloads are kept since the window began. */
export function areWorkloadsKept(question: SqlQuestion): boolean {
  const first = num(rowOf(question, question.days, `SELECT min(day) * ${day} AS first FROM workload_time`), "first");
  return first <= question.days.from;
}

const waitSums = (condition: string): string => `
  SELECT bucket, sum(waits) AS waits, sum(seconds) AS seconds, sum(sum(waits)) OVER (ORDER BY bucket) AS running,
    sum(sum(waits)) OVER () AS total
  FROM waits t JOIN wait_groups g ON g.id = t.wait_group
  WHERE t.day >= :from / ${day} AND t.day < :to / ${day} AND g.phase = 'total' AND (:team IS NULL OR g.team = :team) AND ${condition}
  GROUP BY bucket`;

function noteWaits(
  expected: Expected,
  place: string,
  question: SqlQuestion,
  condition: string,
  ...wanted: string[]
): void {
  const more = Object.fromEntries(wanted.map((value, i) => [i === 0 ? "wanted" : `wanted${i}`, value]));
  const sums = waitSums(condition);
  const buckets = rowsOf(question, question.days, `${sums} ORDER BY bucket`, more);
  for (const row of buckets)
    for (const name of ["bucket", "waits", "seconds"])
      expected.set(`${place}.buckets[${num(row, "bucket")}].${name}`, num(row, name));
  expected.set(
    `${place}.count`,
    buckets.reduce((sum, row) => sum + num(row, "waits"), 0),
  );
  for (const [name, quantile] of [
    ["p50Seconds", 0.5],
    ["p95Seconds", 0.95],
  ] as const) {
    const sql = `SELECT seconds / waits AS wait FROM (${sums}) WHERE running >= max(1, ceil(:quantile * total)) ORDER BY bucket LIMIT 1`;
    const row = rowsOf(question, question.days, sql, { ...more, quantile })[0];
    expected.set(`${place}.${name}`, row === undefined ? null : num(row, "wait"));
  }
}

function noteWaitTables(expected: Expected, question: SqlQuestion): void {
  const groups = (columns: string): readonly Row[] =>
    rowsOf(
      question,
      question.days,
      `SELECT DISTINCT ${columns} FROM waits t JOIN wait_groups g ON g.id = t.wait_group
       WHERE t.day >= :from / ${day} AND t.day < :to / ${day} AND g.phase = 'total' AND (:team IS NULL OR g.team = :team)`,
    );
  for (const row of groups("g.size_class AS size, g.priority_class AS priority")) {
    const [size, priority] = [text(row, "size"), text(row, "priority")];
    const place = `waits.bySize[${size}|${priority}]`;
    noteWaits(expected, place, question, "g.size_class = :wanted AND g.priority_class = :wanted1", size, priority);
  }
  for (const row of groups("coalesce(g.queue, '') AS queue")) {
    const queue = text(row, "queue");
    noteWaits(expected, `waits.byQueue[${queue}]`, question, "coalesce(g.queue, '') = :wanted", queue);
  }
}

function noteBudget(expected: Expected, question: SqlQuestion, budget: SqlQuestion["budgets"][number]): void {
  const { team, perMonth, currency } = budget;
  if (question.team !== null && question.team !== team) return;
  const at = Math.min(question.now, question.days.to - 1);
  const date = new Date(at * 1000);
  const month = [0, 1].map((more) => Date.UTC(date.getUTCFullYear(), date.getUTCMonth() + more) / 1000);
  const [monthFrom = 0, monthTo = 0] = month;
  const first = Math.min(monthFrom, (Math.floor(at / day) - 27) * day);
  const days: { from: number; cost: number; covered: number }[] = [];
  for (let from = first; from < at; from += day) {
    // The last hour is in as a whole.
    const window = { from, to: Math.min(from + day, Math.ceil(at / 3600) * 3600) };
    const sql = `SELECT sum(cost) AS cost FROM ${gpuTime} AND currency = :currency AND ${charged(question.notCharged)}`;
    const cost = num(rowOf({ ...question, team }, window, sql, { currency }), "cost");
    days.push({ from, cost, covered: coveredSeconds(question, window) });
  }
  const sum = (list: readonly (typeof days)[number][], of: "cost" | "covered"): number =>
    list.reduce((all, one) => all + one[of], 0);
  const spent = sum(
    days.filter(({ from }) => from >= monthFrom),
    "cost",
  );
  const recent = days.filter(({ from }) => from + day > at - 28 * day);
  const remaining = (monthTo - at) / day;
  const mid = spent + (sum(recent, "cost") / sum(recent, "covered")) * day * remaining;
  const rates = recent.filter(({ covered }) => covered >= day / 2).map(({ cost, covered }) => (cost / covered) * day);
  const mean = rates.reduce((all, rate) => all + rate, 0) / rates.length;
  const variance = rates.reduce((all, rate) => all + (rate - mean) ** 2, 0) / (rates.length - 1);
  const away = 1.28 * Math.sqrt(variance * (remaining + remaining ** 2 / rates.length));
  const place = `teams[${team}].budgets[${currency}]`;
  expected.set(`${place}.perMonth`, perMonth);
  expected.set(`${place}.spent`, spent);
  expected.set(`${place}.forecast.low`, rates.length < 2 ? null : Math.max(spent, mid - away));
  expected.set(`${place}.forecast.mid`, mid);
  expected.set(`${place}.forecast.high`, rates.length < 2 ? null : mid + away);
}
