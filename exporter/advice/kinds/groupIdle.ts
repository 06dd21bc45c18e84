import { nameWords } from "../../kernel/nameWords.ts";
import { stemsOf } from "../../kernel/stemOfName.ts";
import type { AdviceConfidence } from "../../model/recommendation.ts";
import type { Candidate } from "../candidate.ts";
import { countWords, gpuWords } from "./words.ts";

/** An idle workload with its holding, as a candidate of its own. */
export interface IdleCandidate {
  readonly candidate: Candidate;
  /** Physical GPUs. */
  readonly gpus: number;
  /** The name of the workload: `namespace/name`. */
  readonly name: string;
  /** Since when it has been idle, seconds since the epoch. */
  readonly since: number;
}

/** A workload that holds less than this (physical GPUs) is not worth a candidate of its own. */
const smallGpus = 1;

/**
 * The candidates in their order. Those of one team, pool and act that hold less than a GPU each become one candidate, at the
 * place of the first of them. It has the `mostTogether` workloads that have been idle longest, so that later ones do not change
 * it.
 */
export function groupSmallIdle(idle: readonly IdleCandidate[], mostTogether: number): readonly Candidate[] {
  const groups = new Map<string, IdleCandidate[]>();
  for (const [i, one] of idle.entries()) {
    const { fromTeam, pool, decision } = one.candidate;
    const key = one.gpus < smallGpus ? JSON.stringify([fromTeam, pool, decision?.act]) : `${i}`;
    groups.set(key, [...(groups.get(key) ?? []), one]);
  }
  return [...groups.values()].flatMap((group) => {
    const first = group.toSorted((a, b) => a.since - b.since).slice(0, mostTogether);
    return together(first, group.length - first.length);
  });
}

function together(group: readonly IdleCandidate[], more: number): readonly Candidate[] {
  const [first] = group;
  if (first === undefined) return [];
  if (group.length === 1) return [first.candidate];
  const candidates = group.map(({ candidate }) => candidate);
  const gpus = group.reduce((sum, one) => sum + one.gpus, 0);
  const names = group.map(({ name }) => name);
  const { beneficiary, fromTeam, pool } = first.candidate;
  const sameQueue = candidates.every(({ queue }) => queue === first.candidate.queue);
  const isAsk = first.candidate.decision?.act === "ask";
  const words = `${gpuWords(gpus)} idle ${pool === "" ? "GPUs" : pool} in parts of GPUs`;
  return [
    {
      ...first.candidate,
      kind: "release_idle",
      beneficiary,
      fromTeam,
      pool,
      targets: candidates.flatMap(({ targets }) => targets),
      title: `${isAsk ? `ask team ${fromTeam} about` : "release"} ${words} of ${countWords(group.length, "workload")}${isAsk ? "" : ` of team ${fromTeam}`}: ${nameWords(stemsOf(names))}`,
      reason: `${countWords(group.length, "workload")} of team ${fromTeam} hold ${words}. ${candidates.map(({ reason }) => reason).join(" ")}${more > 0 ? ` ${countWords(more, "other such workload")} of the team can follow.` : ""}`,
      evidence: group.map(({ name, candidate }) => ({
        name,
        value: candidate.evidence
          .slice(0, 3)
          .map((one) => `${one.name} ${one.value}`)
          .join(", "),
      })),
      queue: sameQueue ? first.candidate.queue : "",
      plan: {
        changes: candidates.flatMap(({ plan }) => plan.changes),
        starts: [...new Set(candidates.flatMap(({ plan }) => plan.starts))],
      },
      steps: candidates.flatMap(({ steps }) => steps),
      questions: candidates.flatMap(({ questions = [] }) => questions),
      decision: {
        act: first.candidate.decision?.act ?? "ask",
        reasons: [...new Set(candidates.flatMap(({ decision }) => decision?.reasons ?? []))],
      },
      ...habitOf(candidates),
      untouched: candidates.flatMap(({ untouched = [] }) => untouched),
      disrupted: candidates.flatMap(({ disrupted }) => disrupted),
      gainedGpus: (outcome) => candidates.reduce((sum, { gainedGpus }) => sum + gainedGpus(outcome), 0),
      gainedGpuHours: (outcome) => candidates.reduce((sum, one) => sum + (one.gainedGpuHours?.(outcome) ?? 0), 0),
      unused: candidates.flatMap(({ unused = [] }) => unused),
      confidence: {
        level: lowest(candidates.map(({ confidence }) => confidence.level)),
        reasons: [...new Set(candidates.flatMap(({ confidence }) => confidence.reasons))],
      },
      guards: [...new Set(candidates.flatMap(({ guards }) => guards))],
      blockedAlternatives: candidates.flatMap(({ blockedAlternatives }) => blockedAlternatives),
      signs: candidates.flatMap(({ signs }) => signs),
      measuredBy: {
        kind: "work-released",
        work: candidates.flatMap(({ measuredBy }) => (measuredBy.kind === "work-released" ? measuredBy.work : [])),
        gpus,
      },
    },
  ];
}

/** The habit of the workload that is most likely to work again: the most doubtful one decides for all. */
function habitOf(candidates: readonly Candidate[]): Pick<Candidate, "habit"> {
  const [habit] = candidates
    .flatMap((one) => one.habit ?? [])
    .sort((a, b) => b.returnProbability - a.returnProbability);
  return habit === undefined ? {} : { habit };
}

const levels: readonly AdviceConfidence["level"][] = ["low", "medium", "high"];

const lowest = (given: readonly AdviceConfidence["level"][]): AdviceConfidence["level"] =>
  levels.find((level) => given.includes(level)) ?? "low";
