import { type Expected, noteCosts, num, numOrNull, rowsOf, type SqlQuestion, text } from "./question.ts";
import { areWorkloadsKept } from "./teamAnswers.ts";

const rows = `SELECT g.kind, g.namespace, g.name, g.team, g.currency, t.* FROM served_time t
  JOIN served_groups g ON g.id = t.served_group
  WHERE t.day >= :from / 86400 AND t.day < :to / 86400 AND (:team IS NULL OR g.team = :team)`;

const sums = `SELECT kind, namespace, name, team, sum(requests) AS requests, sum(prompt_tokens) AS promptTokens,
    sum(generated_tokens) AS generatedTokens, sum(gpu_seconds) / 3600 AS gpuHours, sum(uncounted_gpu_seconds) AS uncounted,
    sum(gpu_seconds) FILTER (WHERE currency IS NULL) AS unpriced
  FROM (${rows}) GROUP BY 1, 2, 3, 4 ORDER BY gpuHours DESC LIMIT 20`;

/** What workloads that serve did. */
export function servingAnswers(question: SqlQuestion): Expected {
  const expected: Expected = new Map();
  const { days } = question;
  if (!areWorkloadsKept(question)) return expected.set("serving", null);
  for (const row of rowsOf(question, days, sums)) {
    const names = ["kind", "namespace", "name", "team"].map((name) => text(row, name));
    const place = `serving[${names.join("|")}]`;
    const generated = num(row, "uncounted") > 0 ? null : numOrNull(row, "generatedTokens");
    expected.set(`${place}.requests`, num(row, "requests"));
    expected.set(`${place}.promptTokens`, num(row, "uncounted") > 0 ? null : numOrNull(row, "promptTokens"));
    expected.set(`${place}.generatedTokens`, generated);
    expected.set(`${place}.gpuHours`, num(row, "gpuHours"));
    expected.set(`${place}.tokensPerGpuHour`, generated === null ? null : generated / num(row, "gpuHours"));
    const [kind = "", namespace = "", name = "", team = ""] = names;
    const paid = rowsOf(
      question,
      days,
      `SELECT currency, sum(cost) AS cost FROM (${rows}) WHERE kind = :kind AND namespace = :namespace AND name = :name
         AND team = :own GROUP BY currency`,
      { kind, namespace, name, own: team },
    );
    noteCosts(expected, `${place}.costs`, paid);
    if (num(row, "unpriced") > 0 || (generated ?? 0) === 0) continue;
    const perMillion = paid.map((one) => ({
      ...one,
      cost: one.cost === null ? null : (num(one, "cost") / (generated ?? 0)) * 1e6,
    }));
    noteCosts(expected, `${place}.costPerMillionTokens`, perMillion);
  }
  return expected;
}
