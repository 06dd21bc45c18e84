import {
  allocatedStates,
  type Expected,
  gpuTime,
  iso,
  noteCosts,
  num,
  rowOf,
  rowsOf,
  type SqlQuestion,
  seenStates,
  text,
} from "./question.ts";

/** The length of the union of covered runs within [:from, :to). */
const coveredSql = `WITH runs AS (
    SELECT begins AS b, ends AS e,
      max(ends) OVER (ORDER BY begins, id ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING) AS before
    FROM intervals WHERE gap IS NULL)
  SELECT sum(max(0, min(e, :to) - max(b, coalesce(before, b), :from))) AS seconds FROM runs`;

export const coveredSeconds = (question: SqlQuestion, window: { from: number; to: number }): number =>
  num(rowOf(question, window, coveredSql), "seconds");

const passed = ({ now }: SqlQuestion, { from, to }: { from: number; to: number }): number => Math.min(to, now) - from;

interface PeriodNumbers {
  readonly label: string;
  readonly covered: number;
  readonly capacity: number;
  readonly allocated: number;
  readonly active: number;
  readonly judged: number;
  readonly usable: number;
  readonly pending: number | null;
  readonly costs: ReadonlyMap<string, number>;
}

/** Coverage, periods, tiles, terms, the waterfall and what is not known of GPU time. */
export function gpuTimeAnswers(question: SqlQuestion): Expected {
  const expected: Expected = new Map();
  noteCoverage(expected, question);
  const periods = [...question.before, question.days].map((window) => notePeriod(expected, question, window));
  noteTiles(expected, question, periods);
  noteTerms(expected, question, periods);
  noteWaterfall(expected, question);
  const doubt = rowOf(
    question,
    question.days,
    `SELECT sum(gpu_seconds) FILTER (WHERE currency IS NULL) / 3600 AS unpriced, sum(estimated_gpu_seconds) / 3600 AS estimated,
       sum(gpu_seconds) FILTER (WHERE state = 'unobserved') / 3600 AS unobserved FROM ${gpuTime}`,
  );
  expected.set("unpricedGpuHours", num(doubt, "unpriced"));
  expected.set("estimatedGpuHours", num(doubt, "estimated"));
  expected.set("unobservedGpuHours", num(doubt, "unobserved"));
  return expected;
}

function noteCoverage(expected: Expected, question: SqlQuestion): void {
  const { days, cluster, now } = question;
  const seconds = coveredSeconds(question, days);
  for (const place of ["coverage", `coverage.byCluster[${cluster}]`]) {
    expected.set(`${place}.windowSeconds`, passed(question, days));
    expected.set(`${place}.coveredSeconds`, seconds);
    expected.set(`${place}.ratio`, seconds / passed(question, days));
  }
  const gaps = rowsOf(
    question,
    days,
    `WITH gaps AS (
       SELECT begins AS b, ends AS e, gap FROM intervals WHERE gap IS NOT NULL
       UNION ALL SELECT max(ends), 1e12, 'after-last-entry' FROM intervals
       UNION ALL SELECT 0, min(begins), 'before-ledger' FROM intervals)
     SELECT max(b, :from) AS b, min(e, :to, :now) AS e, gap FROM gaps WHERE min(e, :to, :now) > max(b, :from) ORDER BY e - b DESC`,
    { now },
  );
  expected.set("coverage.gapsLeftOut", Math.max(0, gaps.length - 20));
  for (const gap of gaps.slice(0, 20)) {
    const place = `coverage.gaps[${cluster}|${iso(num(gap, "b"))}]`;
    expected.set(`${place}.to`, iso(num(gap, "e")));
    expected.set(`${place}.reason`, text(gap, "gap"));
  }
}

function notePeriod(expected: Expected, question: SqlQuestion, window: SqlQuestion["days"]): PeriodNumbers {
  const { label } = window;
  const place = `periods[${label}]`;
  const covered = coveredSeconds(question, window);
  const row = rowOf(
    question,
    window,
    `SELECT sum(gpu_seconds) / 3600 AS capacity,
       sum(gpu_seconds) FILTER (WHERE state IN ${allocatedStates}) / 3600 AS allocated,
       sum(gpu_seconds) FILTER (WHERE state = 'active') / 3600 AS active,
       sum(gpu_seconds) FILTER (WHERE state IN ${seenStates}) / 3600 AS judged,
       sum(gpu_seconds) FILTER (WHERE state NOT IN ('unavailable', 'cordoned')) / 3600 AS usable FROM ${gpuTime}`,
  );
  const waiting = rowOf(
    question,
    window,
    `SELECT sum(pending_gpu_seconds) / 3600 AS pending, count(*) AS rows FROM queue_time t JOIN queues q ON q.id = t.queue
     WHERE t.daily IN (0, 1) AND t.hour >= :from / 3600 AND t.hour < :to / 3600 AND (:team IS NULL OR q.team = :team)`,
  );
  const costs = (unallocatedOnly: boolean) =>
    rowsOf(
      question,
      window,
      `SELECT currency, sum(cost) AS cost FROM ${gpuTime} AND (${unallocatedOnly ? "team IS NULL" : "1"}) GROUP BY currency`,
    ).filter(({ currency }) => currency !== null);
  const [capacity, allocated, active, judged, usable] = ["capacity", "allocated", "active", "judged", "usable"].map(
    (name) => num(row, name),
  );
  const numbers = {
    label,
    covered,
    capacity: capacity ?? 0,
    allocated: allocated ?? 0,
    active: active ?? 0,
    judged: judged ?? 0,
    usable: usable ?? 0,
    pending: covered > 0 && num(waiting, "rows") > 0 ? num(waiting, "pending") : null,
    costs: new Map(costs(false).map((cost) => [text(cost, "currency"), num(cost, "cost")] as const)),
  };
  expected.set(`${place}.coverage`, covered > 0 ? covered / passed(question, window) : null);
  expected.set(`${place}.coveredSeconds`, covered);
  for (const name of ["capacity", "allocated", "active", "judged", "usable", "pending"] as const)
    expected.set(`${place}.${name}`, numbers[name]);
  noteCosts(expected, `${place}.costs`, costs(false));
  noteCosts(expected, `${place}.notAllocatedCosts`, costs(true));
  return numbers;
}

const part = (amount: number, whole: number): number | null => (whole > 0 ? amount / whole : null);

function noteTiles(expected: Expected, { team }: SqlQuestion, periods: readonly PeriodNumbers[]): void {
  const money = new Map<string, number>();
  for (const { costs } of periods)
    for (const [currency, cost] of costs) money.set(currency, (money.get(currency) ?? 0) + cost);
  const [most = ["", 0]] = [...money].sort(([, one], [, other]) => other - one);
  const ofAll = team === null;
  const tiles: readonly (readonly [string, boolean, (period: PeriodNumbers) => number | null])[] = [
    ...(ofAll ? ([["capacity", false, ({ capacity }: PeriodNumbers) => capacity]] as const) : []),
    ["allocated", ofAll, ({ allocated, capacity }) => (ofAll ? part(allocated, capacity) : capacity)],
    ["active", true, ({ active, judged }) => part(active, judged)],
    ["cost", false, ({ costs }) => costs.get(most[0]) ?? 0],
  ];
  for (const [id, isRatio, of] of tiles) {
    const values = periods.map((period) => (period.covered > 0 ? of(period) : null));
    expected.set(`tiles[${id}].value`, values.at(-1) ?? null);
    for (const [i, { label }] of periods.slice(0, -1).entries())
      expected.set(`tiles[${id}].before[${label}].value`, values[i] ?? null);
    const rates = values.map((value, i) =>
      value === null ? null : isRatio ? value : value / (periods[i]?.covered ?? 0),
    );
    const known = rates.slice(0, -1).filter((rate) => rate !== null);
    const mean = known.reduce((sum, rate) => sum + rate, 0) / known.length;
    const last = rates.at(-1) ?? null;
    const isReported = last !== null && known.length > 0 && (isRatio || mean > 0);
    expected.set(`tiles[${id}].change`, isReported ? (isRatio ? last - mean : last / mean - 1) : null);
  }
}

function noteTerms(expected: Expected, { team }: SqlQuestion, periods: readonly PeriodNumbers[]): void {
  const last = periods.at(-1);
  if (last === undefined) return;
  const hours = last.covered / 3600;
  expected.set("terms.totalGpus", last.capacity / hours);
  expected.set("terms.effectiveGpus", last.active / hours);
  expected.set("terms.wastedGpus", (last.allocated - last.active) / hours);
  expected.set("terms.utilization", part(last.active, last.judged));
  const { allocated, usable, pending } = last;
  const isReported = pending !== null && team === null;
  expected.set(
    "terms.schedulingEfficiency",
    isReported ? part(allocated, Math.min(usable, allocated + pending)) : null,
  );
}

const levels = {
  capacity: "1",
  ready: "state NOT IN ('unavailable', 'cordoned')",
  allocated: `state IN ${allocatedStates}`,
  started: `state IN ${allocatedStates} AND state NOT IN ('starting', 'gang_wait')`,
  active: "state = 'active'",
} as const;

const dropsOf: Readonly<Record<string, string>> = {
  capacity: "state IN ('unavailable', 'cordoned')",
  ready: "state IN ('free', 'idle_node', 'unattributed')",
  allocated: "state IN ('starting', 'gang_wait')",
  started: "state IN ('unobserved', 'idle', 'stalled', 'underutilized')",
};

function noteWaterfall(expected: Expected, question: SqlQuestion): void {
  const { days, team } = question;
  const stranded = rowOf(
    question,
    days,
    `SELECT sum(stranded_gpus_gpu_seconds + stranded_cpu_gpu_seconds + stranded_memory_gpu_seconds
       + stranded_cpu_and_memory_gpu_seconds) / 3600 AS hours FROM placement_time WHERE hour >= :from / 3600 AND hour < :to / 3600`,
  );
  for (const [level, condition] of Object.entries(levels)) {
    const place = `waterfall[${level}]`;
    const sql = `SELECT sum(gpu_seconds) / 3600 AS hours FROM ${gpuTime} AND ${condition}`;
    expected.set(`${place}.gpuHours`, num(rowOf(question, days, sql), "hours"));
    const costs = `SELECT currency, sum(cost) AS cost FROM ${gpuTime} AND ${condition} GROUP BY currency`;
    noteCosts(expected, `${place}.costs`, rowsOf(question, days, costs));
    if (dropsOf[level] === undefined) continue;
    const drops = `SELECT state, a.team IS NOT NULL AS allocated, currency, sum(gpu_seconds) / 3600 AS hours, sum(cost) AS cost
      FROM ${gpuTime} AND ${dropsOf[level]} GROUP BY state, allocated, currency`;
    for (const drop of rowsOf(question, days, drops)) {
      const at = `${place}.drops[${text(drop, "state")}|${drop.allocated === 1}]`;
      expected.set(`${at}.gpuHours`, num(drop, "hours") + Number(expected.get(`${at}.gpuHours`) ?? 0));
      noteCosts(expected, `${at}.costs`, [drop]);
      const isFree = drop.state === "free" && team === null;
      expected.set(`${at}.strandedGpuHours`, isFree ? num(stranded, "hours") : null);
    }
  }
}
