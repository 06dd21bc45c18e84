import { readFileSync } from "node:fs";
import { beforeAll, describe, expect, it } from "vitest";
import type { PolicyFigures } from "../../cli/demo/burst/burstFigures.ts";
import { withBurst } from "../../cli/demo/burst/burstSection.ts";
import { burstMarkdown, burstText, figuresOf, teamOf } from "../../cli/demo/burst/burstTable.ts";
import { playBurst } from "../../cli/demo/burst/demoBurst.ts";
import { compareWithTruth, type Difference } from "../../cli/demo/compareWithTruth.ts";
import { unassigned } from "../../exporter/join/teamOf.ts";
import {
  type BurstPolicy,
  type BurstTeam,
  burstGuarantees,
  burstPolicies,
  burstTeams,
  burstTimes,
  jobGpus,
} from "../../simulator/scenarios/burst.ts";
import type { Truth, TruthQueue } from "../../simulator/truth.ts";

/** What is really so at one moment: nothing in it comes from the exporter. */
interface Moment {
  /** After the start. */
  readonly seconds: number;
  readonly queues: Readonly<Record<BurstTeam, TruthQueue>>;
  readonly active: Readonly<Record<BurstTeam, number>>;
}

const hour = 3600;
const stepSeconds = 60;
const capacity = 80;
const moments = new Map<BurstPolicy, Moment[]>();
/** Longest wait of a team's work until its pods were bound, or so far, seconds. */
const longest = new Map<string, number>();
const differences: Difference[] = [];
const codes = new Map<BurstPolicy, Set<string>>();
let figures: readonly PolicyFigures[] = [];

beforeAll(async () => {
  figures = await playBurst({
    seed: 1,
    onCycle({ policy, seconds, truth, analysis }) {
      const all = moments.get(policy) ?? [];
      moments.set(policy, all);
      all.push({ seconds, queues: byTeam(queueOf(truth, all.at(-1))), active: byTeam(activeOf(truth)) });
      noteWaits(policy, truth);
      differences.push(...compareWithTruth(analysis, truth, unassigned).differences);
      const found = codes.get(policy) ?? new Set();
      codes.set(policy, found);
      for (const { code } of analysis.findings) found.add(code);
    },
  });
});

function byTeam<Value>(of: (team: BurstTeam) => Value): Readonly<Record<BurstTeam, Value>> {
  return { research: of("research"), inference: of("inference"), training: of("training") };
}

/** The truth has no record of a queue without any work: what was evicted from it stays evicted. */
const queueOf =
  (truth: Truth, before: Moment | undefined) =>
  (team: BurstTeam): TruthQueue => {
    const evicted = before?.queues[team].evictions ?? 0;
    const empty = { system: "kueue", queue: team, allocated: 0, waiting: 0, evictions: evicted } as const;
    return truth.queues.find(({ queue }) => queue === team) ?? empty;
  };
const activeOf = (truth: Truth) => (team: BurstTeam) => truth.teams.find((one) => one.team === team)?.active ?? 0;

function noteWaits(policy: BurstPolicy, { works, at }: Truth): void {
  for (const { team, since, boundAt } of works) {
    const key = `${policy} ${team}`;
    longest.set(key, Math.max(longest.get(key) ?? 0, (boundAt ?? at) - since));
  }
}

function momentsOf(policy: BurstPolicy, from = 0, to: number = burstTimes.end): readonly Moment[] {
  return (moments.get(policy) ?? []).filter(({ seconds }) => seconds >= from && seconds < to);
}

const allocated = ({ queues }: Moment): number => burstTeams.reduce((sum, team) => sum + queues[team].allocated, 0);
const waiting = ({ queues }: Moment): number => burstTeams.reduce((sum, team) => sum + queues[team].waiting, 0);
const evictions = (policy: BurstPolicy, team: BurstTeam): number =>
  momentsOf(policy, 0, burstTimes.end + 1).at(-1)?.queues[team].evictions ?? 0;

const { burst, rival } = burstTimes;

describe("every policy", () => {
  it("is seen by the exporter as it is, at every moment", () => {
    expect(differences).toEqual([]);
    for (const policy of burstPolicies) expect(momentsOf(policy)).toHaveLength(burstTimes.end / stepSeconds);
  });

  it("leaves inference alone: it holds its 20 all the time, and none of its pods has to go", () => {
    for (const policy of burstPolicies) {
      expect(new Set(momentsOf(policy).map(({ queues }) => queues.inference.allocated))).toEqual(new Set([20]));
      expect(evictions(policy, "inference")).toBe(0);
    }
  });

  it("evicts nobody who is within its guarantee", () => {
    let seen = 0;
    for (const policy of burstPolicies) {
      const all = momentsOf(policy);
      for (const [i, { queues }] of all.entries()) {
        for (const team of burstTeams) {
          const before = all[i - 1]?.queues[team];
          const evicted = queues[team].evictions - (before?.evictions ?? 0);
          if (evicted === 0 || before === undefined) continue;
          seen += evicted;
          expect(before.allocated, `${policy} ${team}`).toBeGreaterThan(burstGuarantees[team]);
          expect(queues[team].allocated, `${policy} ${team}`).toBeGreaterThanOrEqual(burstGuarantees[team]);
        }
      }
    }
    expect(seen).toBeGreaterThan(0);
  });
});

describe("strict quota", () => {
  it("never lets research have more than 20, and lets it wait for hours while GPUs are idle", () => {
    const burstTime = momentsOf("strict-quota", burst);
    expect(Math.max(...burstTime.map(({ queues }) => queues.research.allocated))).toBe(20);
    for (const moment of burstTime) {
      expect(moment.queues.research.waiting).toBeGreaterThan(0);
      expect(capacity - allocated(moment)).toBeGreaterThanOrEqual(20);
    }
    expect(longest.get("strict-quota research")).toBeGreaterThanOrEqual(6 * hour);
    for (const team of burstTeams) expect(evictions("strict-quota", team)).toBe(0);
  });
});

describe("borrowing", () => {
  it("lets research have 60 as long as nobody else asks", () => {
    for (const { queues } of momentsOf("borrowing", burst, rival)) expect(queues.research.allocated).toBe(60);
  });

  it("gives training its 20 at once and no more while research, which came first, still waits", () => {
    const contest = momentsOf("borrowing", rival).filter(
      ({ queues }) => queues.research.waiting > 0 && queues.training.waiting > 0,
    );
    expect(contest.length * stepSeconds).toBeGreaterThan(2 * hour);
    for (const { queues } of contest) {
      expect(queues.training.allocated).toBe(20);
      expect(queues.research.allocated).toBe(40);
    }
    expect(evictions("borrowing", "training")).toBe(0);
  });
});

describe.each(["borrowing", "time-based-fairshare"] as const)("%s", (policy) => {
  it("leaves no whole job's worth of GPUs idle while work waits", () => {
    for (const moment of momentsOf(policy, burst).filter((each) => waiting(each) > 0))
      expect(capacity - allocated(moment)).toBeLessThan(jobGpus);
  });

  it("does at least a third more than strict quota", () => {
    const busy = (of: BurstPolicy): number =>
      momentsOf(of).reduce((sum, { active }) => sum + active.research + active.inference + active.training, 0);
    expect(busy(policy)).toBeGreaterThan((4 / 3) * busy("strict-quota"));
  });
});

/** Use of the last two hours, the past counting half after each hour, over that of all GPUs: by hand, from the truth alone. */
function useAt(team: BurstTeam, now: number): number {
  let [used, whole] = [0, 0];
  for (const { seconds, queues } of momentsOf("time-based-fairshare", now - 2 * hour + stepSeconds, now)) {
    const weight = 0.5 ** ((now - seconds) / hour);
    used += queues[team].allocated * weight;
    whole += capacity * weight;
  }
  return whole === 0 ? 0 : used / whole;
}

describe("time-based fairshare", () => {
  const both = (): readonly Moment[] =>
    momentsOf("time-based-fairshare", rival).filter(
      ({ queues }) => queues.research.waiting > 0 && queues.training.waiting > 0,
    );

  it("lets research have 60 as long as nobody else asks", () => {
    for (const { queues } of momentsOf("time-based-fairshare", burst, rival))
      expect(queues.research.allocated).toBe(60);
  });

  it("gives research less than half of the rest after the burst, and half again when its use has decayed", () => {
    const rest = (moment: Moment): number => moment.queues.research.allocated - burstGuarantees.research;
    const early = both().filter(({ seconds }) => seconds < rival + hour / 2);
    const late = both().filter(({ seconds }) => seconds >= rival + 1.5 * hour);
    expect(early.length).toBeGreaterThan(20);
    expect(late.length).toBeGreaterThan(10);
    for (const moment of early) {
      expect(rest(moment)).toBeGreaterThanOrEqual(0);
      expect(rest(moment)).toBeLessThan(10);
    }
    for (const moment of late) expect(Math.abs(rest(moment) - 10)).toBeLessThan(jobGpus);
    expect(Math.max(...early.map(rest))).toBeLessThanOrEqual(Math.min(...late.map(rest)));
  });

  it("gives each what its use leaves it, to one job: P = 1 - use of two that want more and weigh the same", () => {
    expect(useAt("research", rival)).toBeCloseTo(0.67, 2);
    expect(useAt("training", rival)).toBe(0);
    for (const { seconds, queues } of both()) {
      const [research, training] = [1 - useAt("research", seconds), 1 - useAt("training", seconds)];
      const share = burstGuarantees.research + (20 * research) / (research + training);
      expect(Math.abs(queues.research.allocated - share), `at ${seconds} s`).toBeLessThan(jobGpus + 1);
    }
  });

  it("lets training wait less than under borrowing, and research more", () => {
    const wait = (policy: BurstPolicy, team: BurstTeam): number => longest.get(`${policy} ${team}`) ?? 0;
    expect(wait("time-based-fairshare", "training")).toBeLessThan(0.75 * wait("borrowing", "training"));
    expect(wait("time-based-fairshare", "research")).toBeGreaterThan(wait("borrowing", "research"));
    expect(wait("time-based-fairshare", "research")).toBeLessThan(wait("strict-quota", "research"));
  });
});

describe("the figures of the exporter", () => {
  it("are those of the truth", () => {
    for (const policy of burstPolicies) {
      const found = figuresOf(figures, policy);
      const sum = (of: (moment: Moment) => number): number =>
        (momentsOf(policy).reduce((all, moment) => all + of(moment), 0) * stepSeconds) / hour;
      for (const team of burstTeams) {
        const figure = teamOf(found, team);
        expect(figure.allocatedGpuHours, `${policy} ${team} held`).toBeCloseTo(
          sum(({ queues }) => queues[team].allocated),
          6,
        );
        const busy = sum(({ active }) => active[team]);
        expect(Math.abs(figure.busyGpuHours / busy - 1), `${policy} ${team} busy`).toBeLessThan(0.03);
        expect(figure.evicted, `${policy} ${team} evicted`).toBe(evictions(policy, team));
        const wait = longest.get(`${policy} ${team}`) ?? 0;
        // KAI says when pods began to run, and not when they were bound.
        expect(Math.abs(figure.longestWait.seconds - wait), `${policy} ${team} wait`).toBeLessThanOrEqual(stepSeconds);
        expect(figure.p95Wait.seconds).toBeLessThanOrEqual(figure.longestWait.seconds);
      }
    }
  });

  it("call nobody unfair who keeps to its own rules", () => {
    for (const team of burstTeams)
      expect(teamOf(figuresOf(figures, "strict-quota"), team)).toMatchObject({ deviation: 0, debtGpuHours: 0 });
    for (const policy of burstPolicies)
      expect(teamOf(figuresOf(figures, policy), "inference")).toMatchObject({ deviation: 0, debtGpuHours: 0 });
    // Shares are whole GPUs, and jobs have four: nobody is off by as much as a job on average.
    for (const team of burstTeams)
      expect(Math.abs(teamOf(figuresOf(figures, "time-based-fairshare"), team).deviation)).toBeLessThan(jobGpus / 2);
  });

  it("say that under borrowing research owes training what it held above an equal part of the rest", () => {
    // By hand: of the 20 that inference lends each may have 10; what is past counts half after an hour.
    let [total, debt, worst] = [0, 0, 0];
    for (const { queues } of momentsOf("borrowing", rival)) {
      const { allocated: has, waiting: wants } = queues.training;
      const deviation = wants > 0 && queues.research.allocated > 30 ? has - Math.min(30, has + wants) : 0;
      total += (deviation * stepSeconds) / hour;
      debt = debt * 0.5 ** (stepSeconds / hour) + (deviation * stepSeconds) / hour;
      worst = Math.min(worst, debt);
    }
    const [research, training] = [
      teamOf(figuresOf(figures, "borrowing"), "research"),
      teamOf(figuresOf(figures, "borrowing"), "training"),
    ];
    expect(worst).toBeLessThan(-10);
    expect(Math.abs(training.debtGpuHours / worst - 1)).toBeLessThan(0.05);
    expect(Math.abs((training.deviation * burstTimes.end) / hour / total - 1)).toBeLessThan(0.05);
    expect(research.debtGpuHours).toBeCloseTo(-training.debtGpuHours, 6);
    const paidBack = teamOf(figuresOf(figures, "time-based-fairshare"), "training");
    expect(Math.abs(paidBack.debtGpuHours)).toBeLessThan(0.25 * Math.abs(training.debtGpuHours));
  });

  it("go with what is found in the configuration: strict quota lends nothing, and no history is ignored", () => {
    expect(codes.get("strict-quota")).toContain("kueue-quota-not-shared");
    expect(codes.get("borrowing")).not.toContain("kueue-quota-not-shared");
    expect(codes.get("time-based-fairshare")).not.toContain("kai-history-ignored");
  });
});

describe("the report about it", () => {
  it("fits 100 columns", () => {
    const lines = burstText(figures).split("\n");
    expect(lines.filter((line) => line.length > 100)).toEqual([]);
    expect(lines.filter((line) => / {2}all {2}/.test(line))).toHaveLength(3);
  });

  it("is what docs/fairness.md says: npm run burst writes it anew", () => {
    const guide = readFileSync(new URL("../../docs/fairness.md", import.meta.url), "utf8");
    expect(guide).toBe(withBurst(guide, burstMarkdown(figures)));
  });

  it("has a place in the guide, or says that there is none", () => {
    expect(() => withBurst("nothing here", "figures")).toThrow("the document has no place for the burst");
  });
});
