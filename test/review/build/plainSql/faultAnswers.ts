import { type Expected, iso, noteCosts, num, numOrNull, rowsOf, type SqlQuestion, text } from "./question.ts";

const outageSql = `WITH seen AS (SELECT max(ends) AS last FROM intervals WHERE gap IS NULL),
  within AS (SELECT *, max(begins, :from) AS first, min(coalesce(ends, last), :to) AS until FROM outages, seen
    WHERE begins < :to AND coalesce(ends, last) > :from)`;

/** What faults took away, by cause and one by one. */
export function noteFaults(expected: Expected, question: SqlQuestion): void {
  const { days } = question;
  const source = `health_time t JOIN health_groups g ON g.id = t.health_group
    WHERE t.hour >= :from / 3600 AND t.hour < :to / 3600`;
  const repairs = new Map(
    rowsOf(
      question,
      days,
      `${outageSql} SELECT cause, count(*) AS outages, count(*) FILTER (WHERE ends <= :to) AS repaired,
        avg(ends - begins) FILTER (WHERE ends <= :to) / 3600 AS repair FROM within GROUP BY cause`,
    ).map((row) => [text(row, "cause"), row] as const),
  );
  for (const row of rowsOf(
    question,
    days,
    `SELECT cause, sum(gpu_seconds) / 3600 AS hours FROM ${source} GROUP BY 1`,
  )) {
    const at = `faults.causes[${text(row, "cause")}]`;
    const repair = repairs.get(text(row, "cause"));
    expected.set(`${at}.gpuHours`, num(row, "hours"));
    for (const name of ["outages", "repaired"])
      expected.set(`${at}.${name}`, repair === undefined ? 0 : num(repair, name));
    expected.set(`${at}.meanRepairHours`, repair === undefined ? null : numOrNull(repair, "repair"));
  }
  for (const row of rowsOf(question, days, `SELECT cause, currency, sum(cost) AS cost FROM ${source} GROUP BY 1, 2`))
    noteCosts(expected, `faults.causes[${text(row, "cause")}].costs`, [row]);
  noteOutages(expected, question);
}

function noteOutages(expected: Expected, question: SqlQuestion): void {
  const { days } = question;
  const longest = `${outageSql}, ranked AS (SELECT *, row_number() OVER (PARTITION BY node, gpu, pool, cause, teams ORDER BY until - first DESC) AS place,
      sum((until - first) * gpus) OVER (PARTITION BY node, gpu, pool, cause, teams) / 3600 AS hours FROM within)
    SELECT node, gpu, pool, cause, teams, begins, ends, hours FROM ranked WHERE place = 1 ORDER BY hours DESC, node LIMIT 10`;
  for (const row of rowsOf(question, days, longest)) {
    const names = ["node", "gpu", "pool", "cause", "teams"].map((name) => text(row, name));
    const place = `faults.outages[${names.join("|")}]`;
    const ends = numOrNull(row, "ends");
    expected.set(`${place}.gpuHours`, num(row, "hours"));
    expected.set(`${place}.begins`, iso(num(row, "begins")));
    expected.set(`${place}.ends`, ends === null || ends >= days.to ? null : iso(ends));
  }
}
