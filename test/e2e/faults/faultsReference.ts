import type { ExpectedProblem, FaultCase, FaultPhase } from "../faultCases.ts";

const head = `<!-- Written by the test that proves it: npx vitest run test/e2e/faults.test.ts -u -->

# When things go wrong

Each row is played on a simulated cluster by \`test/e2e/faults.test.ts\` (names, codes and numbers are that cluster's), and what it shows is checked
there. Whatever happens, no cycle fails, physical GPUs stay counted, both accounts close, nothing unknown is 0, and \`/readyz\` and \`/livez\` stay 200.

- On \`/\`, each problem is one entry with its next step; it goes when the fault does. "then" begins when the last good answer is too old: 90 s
  for a page, \`kubernetes.maxAgeSeconds\` for objects.
- In the log, each problem is one line at level warn when it begins and one at level info ("over") when it ends, with the key \`problem\`
  as in the table. Changes of how a kind of objects is read (\`pods: synced -> failing\`) and lists that begin anew (\`pods: listed again (expired)\`)
  are lines of their own.
- In the metrics, \`fairlead_problems{code="..."}\` counts each problem. Counters of \`fairlead_kubernetes_*\` show what heals within a cycle.

`;

const tail = `
## When Fairlead itself fails

Proved by \`test/e2e/staleAnswers.test.ts\`, and pairs of faults by \`test/servers/faultPairs.test.ts\`.

| fault | what you see | what to do |
| --- | --- | --- |
| a stage of the cycle throws | the last answers stay for three intervals, then \`/metrics\` has Fairlead's own health alone; \`cycle-failed\` on \`/\`, once in the log; \`fairlead_cycles_total{result="failed"}\` grows; \`/livez\` is 503 after ten intervals | report it with the output of \`fairlead inspect --output json\` |
| the making of recommendations throws | all other answers are complete; what was recommended before stays until it is no longer valid; \`advice-failed\` on \`/\` (\`test/cycle.test.ts\`) | report it in the same way; \`advice.enabled: false\` switches recommendations off until then |
| no cycle runs for more than three intervals | the same page; then \`step-too-long\` for one cycle, and \`fairlead_uncovered_seconds_total{reason="too-long"}\` | look at CPU limits, and at a node that was suspended |
| the wall clock is set between two cycles | nothing: the age of the page goes by a clock that is never set | – |
`;

/** The document about faults, from the cases that the test plays. */
export function faultsReference(cases: readonly FaultCase[]): string {
  const rows = cases.map((each) =>
    row([each.name, onStartPage(each), inLog(each), each.does, inMetrics(each), whatToDo(each)]),
  );
  const titles = ["fault", "on `/`", "in the log", "what Fairlead does", "in the metrics", "what to do"];
  return `${head}${[row(titles), row(titles.map(() => "---")), ...rows].join("\n")}\n${tail}`;
}

const row = (cells: readonly string[]): string => `| ${cells.map((cell) => cell.replaceAll("|", "\\|")).join(" | ")} |`;

/** What both phases have, and what only the later one has. */
function thenParts(each: FaultCase, of: (phase: FaultPhase) => readonly string[]): string {
  const early = [...new Set(of(each.early))];
  const late = [...new Set(of(each.late))].filter((text) => !early.includes(text));
  const parts = [early.join("; "), ...(late.length === 0 ? [] : [`then ${late.join("; ")}`])];
  return parts.filter((part) => part !== "").join("; ") || "–";
}

function onStartPage(each: FaultCase): string {
  return thenParts(each, ({ problems }) => problems.map(({ says }) => `“${says}”`));
}

function inLog(each: FaultCase): string {
  const problems = thenParts(each, (phase) => phase.problems.map(keyOf));
  const reasons = grownOf(each).flatMap((selector) => /restarts_total\{reason="([^"]+)"/.exec(selector)?.[1] ?? []);
  const restarts = reasons.map((reason) => `restarts with reason \`${reason}\``);
  return [...(problems === "–" ? [] : [problems]), ...restarts].join("; ") || "–";
}

function keyOf({ code, subjects }: ExpectedProblem): string {
  const named = (subjects ?? []).filter((subject) => subject !== null);
  if (subjects !== undefined && named.length === 0) return `\`${code}\``;
  return named.length === 1 ? `\`${code} ${named[0]}\`` : `\`${code} ...\``;
}

const grownOf = ({ early, late }: FaultCase): readonly string[] => [
  ...new Set([...(early.grown ?? []), ...(late.grown ?? [])]),
];

function inMetrics(each: FaultCase): string {
  const states = [...(each.late.states ?? [])].map(({ state }) => `the GPUs are \`${state}\``);
  const series = Object.entries({ ...each.early.series, ...each.late.series }).map(([selector, value]) =>
    value === null ? `no \`${selector}\`` : `\`${selector}\` ${value}`,
  );
  const grown = grownOf(each).map((selector) => `\`${selector}\` grows`);
  // That a source is up, and all its targets fresh, is how it always is.
  const usual = /(source_up\{.*\}` 1|="fresh"\}` 24|="stale"\}` 0)$/;
  return [...states, ...grown, ...series.filter((text) => !usual.test(text))].join("; ") || "–";
}

function whatToDo(each: FaultCase): string {
  const steps = [...each.early.problems, ...each.late.problems].map(({ next }) =>
    next.endsWith("?") ? next : `${next}.`,
  );
  return (
    [...new Set(each.todo === undefined ? steps : [each.todo, ...steps])].join(" ") || "Nothing: it heals by itself."
  );
}
