import type { Analysis } from "../../../exporter/analysis/analysis.ts";
import type { Truth, TruthGpu, TruthHolder } from "../../../simulator/truth.ts";
import type { MixedCluster } from "../../simulator/scenarios/activity/mixedCluster.ts";
import { createPageShows } from "./pageShows.ts";
import { type Finding, findings, isSo, mayBeCalled, patience, type Spell, spellAfter, windowOf } from "./windows.ts";

/** What was true of one workload, and what it was called. */
export interface WorkOutcome {
  readonly shape: string;
  /** Of the node of its first GPU. */
  readonly page: string;
  readonly gpus: number;
  /** By finding; absent: it was neither so for long enough nor called so. */
  readonly findings: Readonly<Partial<Record<Finding, FindingOutcome>>>;
}

export interface FindingOutcome {
  /** It was so for its window and some minutes more. */
  readonly isTrue: boolean;
  /** The page showed it for as long. */
  readonly isShown: boolean;
  /** Seconds from when it began to be so until it was called so while it was; `null`: never. */
  readonly calledAfter: number | null;
  /** It was called so while it was not. */
  readonly isFalseAlarm: boolean;
}

type Note = { -readonly [Key in keyof FindingOutcome]: FindingOutcome[Key] };

/** Watches what each workload does and what it is called, cycle by cycle; `seconds` since the start of the play. */
export interface WorkWatch {
  look(truth: Truth, analysis: Analysis, seconds: number): void;
  outcomes(): readonly WorkOutcome[];
}

/** A GPU, its index on its node, and one of its holders. */
interface Held {
  readonly gpu: TruthGpu;
  readonly index: number;
  readonly holder: TruthHolder;
  readonly team: string;
}

/** Nothing was seen yet; `step`: seconds between two looks. */
export function createWorkWatch(cluster: MixedCluster, step: number): WorkWatch {
  const { scenario, shapes, pages } = cluster;
  const shows = createPageShows(cluster);
  const specs = [...scenario.placed, ...scenario.habits].map(({ workload }) => workload);
  const servesOf = new Map(specs.map(({ namespace, serves }) => [namespace, serves]));
  const spells = new Map<string, Spell>();
  const shown = new Map<string, Spell>();
  const notes = new Map<string, Note>();
  const seen = new Map<string, { readonly gpus: Set<string>; readonly page: string }>();

  function note(team: string, finding: Finding): Note {
    const key = `${team} ${finding}`;
    const found = notes.get(key) ?? { isTrue: false, isShown: false, calledAfter: null, isFalseAlarm: false };
    notes.set(key, found);
    return found;
  }

  function noteSpell(
    into: Map<string, Spell>,
    { gpu, team }: Held,
    finding: Finding,
    so: boolean,
    at: number,
  ): boolean {
    const key = keyOf(gpu, team, finding);
    const spell = spellAfter(into.get(key), so, at, step);
    if (spell === undefined) return false;
    into.set(key, spell);
    return spell.until - spell.since >= windowOf[finding] + patience;
  }

  function lookAt(held: Held, isUsable: boolean, running: number, at: number, seconds: number): void {
    const { gpu, index, holder, team } = held;
    const shape = shapes.get(team);
    if (shape === undefined) return;
    const known = seen.get(team) ?? { gpus: new Set(), page: pages.get(gpu.node)?.name ?? "" };
    seen.set(team, known);
    known.gpus.add(gpu.uuid);
    const serves = servesOf.get(team);
    for (const finding of findings) {
      // Whether anybody asks a server does not depend on its GPU.
      const so = (isUsable || finding === "no-requests") && isSo(finding, shape, holder, serves, running);
      // Gauges alone prove nothing.
      const isCounted = finding !== "no-requests" || serves?.gaugesOnly !== true;
      const isVisible = so && isUsable && isCounted && shows(finding, gpu, index, holder, seconds);
      if (noteSpell(spells, held, finding, so, at)) note(team, finding).isTrue = true;
      if (noteSpell(shown, held, finding, isVisible, at)) note(team, finding).isShown = true;
    }
  }

  function compare(of: Finding, held: readonly Held[], called: ReadonlyMap<string, number>, at: number): void {
    const right = new Map<string, { readonly gpus: number; readonly since: number }>();
    for (const { gpu, holder, team } of held) {
      const spell = spells.get(keyOf(gpu, team, of));
      if (spell === undefined || !mayBeCalled(spell, of, at)) continue;
      const { gpus, since } = right.get(team) ?? { gpus: 0, since: spell.since };
      right.set(team, { gpus: gpus + holder.share, since: Math.min(since, spell.since) });
    }
    for (const team of shapes.keys()) {
      const gpus = called.get(`${team} ${of}`) ?? 0;
      if (gpus < 1e-9) continue;
      const truly = right.get(team);
      if (gpus > (truly?.gpus ?? 0) + 1e-6) note(team, of).isFalseAlarm = true;
      if (truly !== undefined) note(team, of).calledAfter ??= at - truly.since;
    }
  }

  return {
    look(truth, analysis, seconds) {
      const ready = new Set(truth.nodes.flatMap((node) => (node.ready ? [node.name] : [])));
      const startedAt = new Map(truth.works.map((work) => [work.namespace, work.startedAt ?? truth.at]));
      const held = heldOf(truth);
      for (const one of held) {
        const isUsable = one.gpu.healthy && ready.has(one.gpu.node);
        lookAt(one, isUsable, truth.at - (startedAt.get(one.team) ?? truth.at), truth.at, seconds);
      }
      const called = calledNow(analysis);
      for (const finding of findings) compare(finding, held, called, truth.at);
    },
    outcomes: () =>
      [...shapes].map(([team, { name }]) => ({
        shape: name,
        page: seen.get(team)?.page ?? "",
        gpus: seen.get(team)?.gpus.size ?? 0,
        findings: Object.fromEntries(
          findings.flatMap((finding) => {
            const found = notes.get(`${team} ${finding}`);
            return found === undefined ? [] : [[finding, { ...found }] as const];
          }),
        ),
      })),
  };
}

const keyOf = ({ uuid }: TruthGpu, team: string, finding: Finding): string => `${uuid} ${team} ${finding}`;

function heldOf({ physicalGpus }: Truth): readonly Held[] {
  const ofNode = Map.groupBy(physicalGpus, ({ node }) => node);
  return [...ofNode.values()].flatMap((gpus) =>
    gpus.flatMap((gpu, index) =>
      gpu.holders.flatMap((holder) => (holder.team === null ? [] : [{ gpu, index, holder, team: holder.team }])),
    ),
  );
}

/** GPUs by team and by what they are called. */
function calledNow({ accountingEntries, snapshot }: Analysis): ReadonlyMap<string, number> {
  const called = new Map<string, number>();
  for (const { state, pod, gpus, idleReason } of accountingEntries.list) {
    const team = pod === null ? undefined : snapshot.pods[pod]?.team;
    if (team === undefined || (state !== "stalled" && state !== "idle")) continue;
    const finding = state === "stalled" ? state : idleReason === undefined ? "no-activity" : "no-requests";
    called.set(`${team} ${finding}`, (called.get(`${team} ${finding}`) ?? 0) + gpus);
  }
  return called;
}
