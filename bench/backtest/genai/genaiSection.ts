import { figure, markdownTable, percent } from "../markdown.ts";
import { linePlot } from "../svg.ts";
import type { GenaiResult } from "./genaiResult.ts";

type Row = GenaiResult["rows"][number];

/** GPU-hours freed less those that restarts cost. */
const net = ({ freedHours, cameBack }: Row, restartMinutes: number): number =>
  freedHours - (cameBack * restartMinutes) / 60;

/** The section of docs/backtest.md about the duty cycles of GenAI. Pure. */
export function genaiSection({ shares, unusedHours, oracle, rows }: GenaiResult): string {
  const counts = markdownTable(["share", "published", "here"], 1, [
    ["samples of 0 %", "66.8 %", percent(shares.zeros / shares.samples)],
    ["mean duty cycle", "7.03 %", `${figure(shares.meanPercent, 2)} %`],
    ["samples above 50 %", "2.33 %", percent(shares.aboveHalf / shares.samples, 2)],
  ]);
  const [short, long] = oracle;
  const regret = (row: Row, of: (typeof oracle)[number] | undefined): string =>
    of === undefined ? "–" : figure(of.netHours - net(row, of.restartMinutes));
  const table = markdownTable(
    [
      "what is called idle",
      "calls",
      "right",
      "precision",
      "came back the same day",
      "GPU-hours freed",
      "net, restart of 10 min",
      "regret",
      "net, restart of 60 min",
      "regret",
      "freed if acted on 4 h later",
    ],
    1,
    [
      ["nothing", 0, "–", "–", 0, 0, 0, figure(short?.netHours ?? 0), 0, figure(long?.netHours ?? 0), 0],
      ...rows.map((row) => [
        row.name,
        figure(row.calls),
        `${figure(row.right)} of ${figure(row.judged)}`,
        row.judged === 0 ? "–" : percent(row.right / row.judged),
        figure(row.cameBack),
        figure(row.freedHours),
        figure(net(row, short?.restartMinutes ?? 0)),
        regret(row, short),
        figure(net(row, long?.restartMinutes ?? 0)),
        regret(row, long),
        figure(row.freedLateHours),
      ]),
      [
        "an oracle",
        `${figure(short?.calls ?? 0)} and ${figure(long?.calls ?? 0)}`,
        "–",
        "–",
        "–",
        "–",
        figure(short?.netHours ?? 0),
        0,
        figure(long?.netHours ?? 0),
        0,
        "–",
      ],
    ],
  );
  return `## genai-2026: when is work idle?

Trace: duty cycles of the GPUs of ${shares.pods} inference pods over 23 hours, a sample every 57 s (Alibaba, cluster-trace-v2026-GenAI; ${figure(shares.samples)} samples, ${figure(unusedHours)} GPU-hours without any use).

    npm run backtest -- genai DIR

${counts}

The engine plays the trace in cycles of five samples, for windows of several lengths (\`idle.batchSeconds\`; 30 minutes is the default for batch work). A call is *right* if its pod is not used at all for the next hour; calls
within the last hour of the trace are not judged if nothing comes. *Freed* are the hours from a call until the next use, had each call been acted on; *net* deducts a restart for each pod that came back; *regret* is
what an oracle would have had more, which frees each pod at once, and only if that is worth the restart.

${table}

![Precision and regret by window](images/backtest-genai.svg)

- **No window is good here.** With windows of up to half an hour more than four of five pods that are called idle come back the same day, and with the default window one call in four has another idle hour before it.
  A window of two hours is right most often, and finds least of what there is; at longer windows there are too few calls to judge.
- **What a restart costs decides which window is best**: the shortest with ten minutes, one of an hour with an hour, and then short windows lose GPU-hours. That is why the owner of such work is asked.
- **The advice says much less than the state**, for it leaves out work that is expected to come back, and is right hardly more often than the state at the same window. Its expectation comes from this very trace
  ([recommendations](recommendations.md)), so this is no independent test of it.
- These are inference pods. As \`serving\`, which is what Fairlead takes them for, their window is 24 hours, longer than the trace: nothing at all would be called idle, and nothing freed.

What it does not show: whether work was lost (the trace has no checkpoints; \`work done again\` is the restart alone), waiting work that could have used what was freed (job time and p95 wait), money (no models of GPUs), and obedience: at 20 and 50 % each call counts for a
fifth and a half of its hours.
`;
}

/** The picture of the section. Pure. */
export function genaiPlot({ oracle, rows }: GenaiResult): string {
  const byWindow = rows.flatMap((row) =>
    row.windowMinutes === null ? [] : [{ ...row, x: Math.log2(row.windowMinutes) }],
  );
  const lines = oracle.map(({ restartMinutes, netHours }) => ({
    name: `regret, restart ${restartMinutes} min`,
    points: byWindow.map((row) => ({ x: row.x, y: (100 * (netHours - net(row, restartMinutes))) / netHours })),
  }));
  const precision = {
    name: "precision",
    points: byWindow.map(({ x, right, judged }) => ({ x, y: (100 * right) / Math.max(1, judged) })),
  };
  return linePlot({
    title: "genai-2026: precision of idle calls, and regret in percent of what an oracle frees",
    xTitle: "window, minutes",
    yTitle: "%",
    marks: byWindow.map(({ x, windowMinutes }) => ({ x, name: `${windowMinutes}` })),
    lines: [precision, ...lines],
  });
}
