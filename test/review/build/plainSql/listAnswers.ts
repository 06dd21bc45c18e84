import {
  type Expected,
  iso,
  noteCosts,
  num,
  numOrNull,
  rowsOf,
  type SqlQuestion,
  seenStates,
  text,
  wastedStates,
} from "./question.ts";
import { areWorkloadsKept } from "./teamAnswers.ts";

const day = 86_400;

/** Jobs, actions and prices. */
export function listAnswers(question: SqlQuestion): Expected {
  const expected: Expected = new Map();
  noteJobs(expected, question);
  noteActions(expected, question);
  // What was not advised is of a cluster as a whole.
  if (question.team !== null) expected.set("notAdvisedLeftOut", 0);
  notePrices(expected, question);
  return expected;
}

/** Each workload by name, however often it is there. */
const jobRows = `SELECT w.kind || '/' || w.namespace || '/' || w.name AS job, w.namespace, w.name, a.state, a.currency, a.team, a.queue,
    t.gpu_seconds AS gpu, t.cost
  FROM workload_time t JOIN accounts a ON a.id = t.account JOIN workloads w ON w.id = t.workload
  WHERE t.day >= :from / ${day} AND t.day < :to / ${day} AND (:team IS NULL OR a.team = :team)`;

function noteJobs(expected: Expected, question: SqlQuestion): void {
  const { days } = question;
  if (!areWorkloadsKept(question)) {
    expected.set("jobs", null);
    return;
  }
  const [all] = rowsOf(question, days, `SELECT count(DISTINCT job) AS count FROM (${jobRows})`);
  expected.set("jobs.count", num(all ?? {}, "count"));
  noteCosts(
    expected,
    "jobs.costs",
    rowsOf(question, days, `SELECT currency, sum(cost) AS cost FROM (${jobRows}) GROUP BY currency`),
  );
  const wasted = `FILTER (WHERE state IN ${wastedStates})`;
  const sums = `WITH rows AS MATERIALIZED (${jobRows}),
    money AS (SELECT job, max(cost) AS cost, max(waste) AS waste FROM
      (SELECT job, sum(cost) AS cost, sum(cost) ${wasted} AS waste FROM rows GROUP BY job, currency) GROUP BY job)
    SELECT rows.job, namespace, name, money.cost AS most, money.waste AS wasted, sum(gpu) / 3600 AS gpuHours,
      sum(gpu) FILTER (WHERE state = 'active') / 3600 AS activeGpuHours, sum(gpu) ${wasted} / 3600 AS wastedGpuHours,
      sum(gpu) FILTER (WHERE state IN ${seenStates}) / 3600 AS judged FROM rows JOIN money USING (job) GROUP BY rows.job`;
  for (const [list, order] of [
    ["byCost", "coalesce(most, 0) DESC, gpuHours DESC"],
    ["byWaste", "coalesce(wasted, 0) DESC, wastedGpuHours DESC"],
  ] as const)
    for (const row of rowsOf(question, days, `${sums} ORDER BY ${order} LIMIT 10`)) {
      if (list === "byWaste" && num(row, "wastedGpuHours") === 0) continue;
      const place = `jobs.${list}[${text(row, "namespace")}|${text(row, "name")}]`;
      const wanted = { job: text(row, "job") };
      for (const name of ["gpuHours", "activeGpuHours", "wastedGpuHours"])
        expected.set(`${place}.${name}`, num(row, name));
      expected.set(
        `${place}.utilization`,
        num(row, "judged") > 0 ? num(row, "activeGpuHours") / num(row, "judged") : null,
      );
      const [holder = {}] = rowsOf(
        question,
        days,
        `SELECT team, queue FROM (${jobRows}) WHERE job = :job GROUP BY team, queue ORDER BY sum(gpu) DESC LIMIT 1`,
        wanted,
      );
      expected.set(`${place}.team`, text(holder, "team"));
      expected.set(`${place}.queue`, text(holder, "queue"));
      const money = (filter: string) =>
        `SELECT currency, sum(cost) ${filter} AS cost FROM (${jobRows}) WHERE job = :job GROUP BY currency`;
      noteCosts(expected, `${place}.costs`, rowsOf(question, days, money(""), wanted));
      noteCosts(expected, `${place}.wasteCosts`, rowsOf(question, days, money(wasted), wanted));
      const perUnit = `SELECT c.value ->> '$[0]' AS currency, (c.value ->> '$[1]') * 1.0 / (r.value ->> '$.madeUnits') AS cost
        FROM remembered r, json_each(r.value, '$.costs') c
        WHERE r.kind = 'progress' AND r.key ->> '$[1]' = :namespace AND r.key ->> '$[2]' = :name
          AND r.value ->> '$.madeUnits' > 0`;
      const names = { namespace: text(row, "namespace"), name: text(row, "name") };
      noteCosts(expected, `${place}.costPerUnit`, rowsOf(question, days, perUnit, names));
    }
}

// GPUs that are only seen again are no gain.
const lives = `SELECT *, gained_gpus_worst * (kind <> 'fix_source') AS gained, gained_gpus_worst * (kind <> 'fix_source') * 24 - lost_gpu_hours AS worth FROM recommendations
  WHERE first_seen < :to AND (:team IS NULL OR from_team = :team OR for_team = :team)`;

function noteActions(expected: Expected, question: SqlQuestion): void {
  const { days } = question;
  const open = `${lives} AND (closed IS NULL OR closed >= :to) ORDER BY worth DESC, id`;
  // What expired is one for each need, reported as it was last.
  const need = `CASE state WHEN 'expired' THEN json_array(kind, from_team, for_team, queue, pool)
    ELSE json_array(id, first_seen) END`;
  const closed = `SELECT * FROM (
      SELECT *, row_number() OVER (PARTITION BY ${need} ORDER BY closed DESC, id) AS place,
        count(*) OVER (PARTITION BY ${need}) AS records
      FROM (${lives} AND closed >= :from AND closed < :to)
    ) WHERE place = 1 ORDER BY state = 'taken' DESC, worth DESC, id`;
  const all = rowsOf(question, days, closed);
  noteTrackRecords(expected, question);
  expected.set("lastActionsLeftOut", Math.max(0, all.length - 10));
  for (const [list, rows] of [
    ["actions", rowsOf(question, days, `${open} LIMIT 5`)],
    ["lastActions", all.slice(0, 10)],
  ] as const)
    for (const row of rows) {
      const place = `${list}[${text(row, "id")}|${iso(num(row, "first_seen"))}]`;
      const gained = num(row, "gained_gpus_worst");
      expected.set(`${place}.predictedGpus`, gained);
      expected.set(`${place}.predictedGpuHoursPerWeek`, num(row, "gained") * 7 * 24);
      expected.set(`${place}.lostGpuHours`, num(row, "lost_gpu_hours"));
      expected.set(`${place}.measuredGpus`, numOrNull(row, "measured_gpus"));
      expected.set(`${place}.measuredLostGpuHours`, numOrNull(row, "measured_lost_gpu_hours"));
      expected.set(`${place}.closed`, row.closed === null ? null : iso(num(row, "closed")));
      expected.set(`${place}.state`, text(row, "state"));
      expected.set(`${place}.records`, list === "lastActions" ? num(row, "records") : 1);
      const saving = `SELECT json_extract(s.value, '$.currency') AS currency, sum(json_extract(s.value, '$.amount')) AS cost
        FROM recommendations r, json_each(r.record, '$.offer.draft.effect.savingPerWeek') s
        WHERE r.id = :id AND r.first_seen = :first GROUP BY 1`;
      const wanted = { id: text(row, "id"), first: num(row, "first_seen") };
      noteCosts(expected, `${place}.savingPerWeek`, rowsOf(question, days, saving, wanted));
    }
}

function notePrices(expected: Expected, question: SqlQuestion): void {
  const sql = `SELECT source, basis, currency, min(dated) AS low, max(dated) AS high, count(*) = count(dated) AS isDated
    FROM price_log WHERE begins < :to AND (ends IS NULL OR ends > :from) AND per_gpu_hour IS NOT NULL GROUP BY source, basis, currency`;
  for (const row of rowsOf(question, question.days, sql)) {
    const place = `prices[${question.cluster}|${text(row, "source")}|${text(row, "basis")}|${text(row, "currency")}]`;
    expected.set(`${place}.datedFrom`, row.isDated === 1 ? iso(num(row, "low")) : null);
    expected.set(`${place}.datedTo`, row.isDated === 1 ? iso(num(row, "high")) : null);
  }
}

/** How those that were open at some moment of the window turned out. */
function noteTrackRecords(expected: Expected, question: SqlQuestion): void {
  const sql = `SELECT kind, json_extract(record, '$.offer.draft.act') AS act,
      sum(json_extract(record, '$.aftermath.outcome') = 'came-back') AS cameBack,
      sum(json_extract(record, '$.aftermath.outcome') = 'evicted-again') AS evictedAgain,
      sum(json_extract(record, '$.aftermath.outcome') = 'stayed') AS stayed,
      sum(json_extract(record, '$.aftermath.outcome') = 'ended') AS ended,
      sum(json_extract(record, '$.aftermath.regretGpuHours')) AS regretGpuHours
    FROM (${lives}) WHERE (closed IS NULL OR closed >= :from) AND json_extract(record, '$.aftermath.outcome') IS NOT NULL
    GROUP BY 1, 2`;
  for (const row of rowsOf(question, question.days, sql))
    for (const column of ["cameBack", "evictedAgain", "stayed", "ended", "regretGpuHours"])
      expected.set(`trackRecords[${text(row, "kind")}|${text(row, "act")}].${column}`, num(row, column));
}
