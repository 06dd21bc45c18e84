import { type Column, duration, left, right, tableLines } from "../../../exporter/publish/terminal/columns.ts";
import { fold, layOut, plainTerminal, type Terminal } from "../../../exporter/publish/terminal/layout.ts";
import { type BurstPolicy, type BurstTeam, burstGuarantees } from "../../../simulator/scenarios/burst.ts";
import type { BurstWait, PolicyFigures, TeamFigures } from "./burstFigures.ts";

const policyNames: Readonly<Record<BurstPolicy, string>> = {
  "strict-quota": "strict quota",
  borrowing: "borrowing",
  "time-based-fairshare": "time-based fairshare",
};

const columns: readonly Column[] = [
  ...["policy", "team"].map(left),
  ...["allocated", "deviation", "debt", "longest", "p95 wait", "evicted", "busy"].map(right),
];

/** What the columns mean, in one sentence each. */
const legend = [
  "allocated, debt and busy are GPU-hours.",
  "deviation: GPUs allocated less GPUs entitled to by the policy's own rules, on average.",
  "debt: the fairness debt of a half-life of 1 h where it was furthest from 0; below 0 the team is owed GPU time.",
  "longest: the longest wait; a wait with a + was not over at the end.",
].join(" ");

/** The figures of all policies for a terminal. */
export function burstText(figures: readonly PolicyFigures[], terminal: Terminal = plainTerminal): string {
  return layOut(
    [
      ...fold(introduction(figures), ""),
      "",
      ...tableLines(columns, rows(figures), ""),
      "",
      ...fold(legend, ""),
      "",
      ...burstSentences(figures).flatMap((sentence) => fold(sentence, "")),
      "",
    ],
    terminal,
  );
}

/** The figures of all policies as Markdown, as `docs/fairness.md` has them. */
export function burstMarkdown(figures: readonly PolicyFigures[]): string {
  const line = (cells: readonly string[]): string => `| ${cells.join(" | ")} |`;
  const rule = columns.map(({ align }) => (align === "right" ? "---:" : "---"));
  return [
    [line(columns.map(({ heading }) => heading)), line(rule), ...rows(figures).map(line)].join("\n"),
    legend,
    burstSentences(figures).join("\n"),
  ].join("\n\n");
}

function introduction(figures: readonly PolicyFigures[]): string {
  const { research, inference, training } = burstGuarantees;
  const hours = Math.round(figures[0]?.playedHours ?? 0);
  return `${hours} hours on 80 GPUs, the same work under three policies: research is sure of ${research} GPUs and after an hour wants 60 and more, inference is sure of ${inference} and always uses 20, training is sure of ${training} and comes an hour and a half after the burst.`;
}

function rows(figures: readonly PolicyFigures[]): readonly (readonly string[])[] {
  return figures.flatMap(({ policy, teams }) => [
    ...teams.map((team, i) => [
      i === 0 ? policyNames[policy] : "",
      team.team,
      amount(team.allocatedGpuHours),
      signed(team.deviation),
      signed(team.debtGpuHours),
      waitText(team.longestWait),
      waitText(team.p95Wait),
      String(team.evicted),
      amount(team.busyGpuHours),
    ]),
    ["", "all", amount(allocatedOf(teams)), "", "", "", "", String(sumOf(teams, "evicted")), amount(busyOf(teams))],
  ]);
}

/** Two sentences that say what the table shows. */
export function burstSentences(figures: readonly PolicyFigures[]): readonly string[] {
  const [strict, borrowing, timeBased] = [
    figuresOf(figures, "strict-quota"),
    figuresOf(figures, "borrowing"),
    figuresOf(figures, "time-based-fairshare"),
  ];
  const unallocated = strict.capacityGpuHours - allocatedOf(strict.teams);
  const more = busyOf(borrowing.teams) / busyOf(strict.teams) - 1;
  const of = (policy: PolicyFigures, team: BurstTeam): TeamFigures => teamOf(policy, team);
  const wait = (policy: PolicyFigures, team: BurstTeam): string => duration(of(policy, team).longestWait.seconds);
  const evicted = (policy: PolicyFigures): number => sumOf(policy.teams, "evicted");
  return [
    `Strict quota is the fairest on paper, as nobody deviates from its quota, and wastes the most: ${Math.round(unallocated)} of ${Math.round(strict.capacityGpuHours)} GPU-hours are allocated to nobody although research waits for up to ${wait(strict, "research")}; borrowing gets ${Math.round(100 * more)} % more busy GPU-hours out of the same cluster.`,
    `Under borrowing research keeps what it took before training came, so that training falls ${amount(Math.abs(of(borrowing, "training").debtGpuHours))} GPU-hours behind and waits for up to ${wait(borrowing, "training")}; time-based fairshare counts research's use against it until it has decayed, which keeps training within ${amount(Math.abs(of(timeBased, "training").debtGpuHours))} GPU-hours of its share and its wait at ${wait(timeBased, "training")}, for ${evicted(timeBased)} evictions instead of ${evicted(borrowing)} and a wait of research of ${wait(timeBased, "research")} instead of ${wait(borrowing, "research")}.`,
  ];
}

/** The figures of one policy. */
export function figuresOf(figures: readonly PolicyFigures[], policy: BurstPolicy): PolicyFigures {
  const found = figures.find((one) => one.policy === policy);
  if (found === undefined) throw new Error(`the policy ${policy} was not played`);
  return found;
}

/** The figures of one team. */
export function teamOf({ policy, teams }: PolicyFigures, team: BurstTeam): TeamFigures {
  const found = teams.find((one) => one.team === team);
  if (found === undefined) throw new Error(`team ${team} has no figures under ${policy}`);
  return found;
}

const sumOf = (teams: readonly TeamFigures[], figure: "allocatedGpuHours" | "busyGpuHours" | "evicted"): number =>
  teams.reduce((sum, team) => sum + team[figure], 0);
const allocatedOf = (teams: readonly TeamFigures[]): number => sumOf(teams, "allocatedGpuHours");
const busyOf = (teams: readonly TeamFigures[]): number => sumOf(teams, "busyGpuHours");

const amount = (value: number): string => value.toFixed(1);

function signed(value: number): string {
  const text = value.toFixed(1);
  if (Number(text) === 0) return "0.0";
  return value > 0 ? `+${text}` : text;
}

const waitText = ({ seconds, isOver }: BurstWait): string => `${duration(seconds)}${isOver ? "" : "+"}`;
