import { createHash } from "node:crypto";
import { aloneShapes, gangShapes, partShapes } from "../../simulator/scenarios/activity/shapes.ts";
import { type MixedOutcome, playedMinutes } from "./playMixed.ts";
import type { FaultOutcome } from "./watchHealth.ts";
import type { FindingOutcome, WorkOutcome } from "./watchWork.ts";
import { type Finding, findings } from "./windows.ts";

/** The seeds whose outcomes a test plays again. */
export const replayedSeeds = 4;

/** A digest of outcomes: the same text for the same outcomes. */
export const digestOf = (outcomes: readonly MixedOutcome[]): string =>
  createHash("sha256").update(JSON.stringify(outcomes)).digest("hex").slice(0, 16);

const line = (cells: readonly (string | number)[]): string => `| ${cells.join(" | ")} |`;

function table(head: readonly string[], words: number, rows: readonly (readonly (string | number)[])[]): string {
  return [line(head), line(head.map((_, i) => (i < words ? "---" : "---:"))), ...rows.map(line)].join("\n");
}

/** The middle and the largest of some times, in minutes; a dash without any. */
function times(seconds: readonly number[]): string {
  if (seconds.length === 0) return "–";
  const sorted = [...seconds].sort((a, b) => a - b);
  const minutes = (value: number | undefined): number => Math.round((value ?? 0) / 60);
  return `${minutes(sorted[Math.floor((sorted.length - 1) / 2)])}, ${minutes(sorted.at(-1))}`;
}

/** What some workloads came to. */
interface Sums {
  readonly works: number;
  readonly gpus: number;
  readonly so: number;
  readonly called: number;
  readonly after: readonly number[];
  readonly falseAlarms: number;
  /** Not found although the page shows it; not found, and the page does not show it. */
  readonly missed: number;
  readonly hidden: number;
}

function sumsOf(works: readonly WorkOutcome[], of: Finding): Sums {
  const found = works.flatMap((work): readonly FindingOutcome[] => {
    const one = work.findings[of];
    return one === undefined ? [] : [one];
  });
  const so = found.filter(({ isTrue }) => isTrue);
  const after = so.flatMap(({ calledAfter }) => (calledAfter === null ? [] : [calledAfter]));
  const unfound = so.filter(({ calledAfter }) => calledAfter === null);
  return {
    works: works.length,
    gpus: works.reduce((sum, { gpus }) => sum + gpus, 0),
    so: so.length,
    called: after.length,
    after,
    falseAlarms: found.filter(({ isFalseAlarm }) => isFalseAlarm).length,
    missed: unfound.filter(({ isShown }) => isShown).length,
    hidden: unfound.filter(({ isShown }) => !isShown).length,
  };
}

const isEmpty = ({ so, called, falseAlarms }: Sums): boolean => so + called + falseAlarms === 0;

const findingHead = ["workloads", "GPUs", "called", "so", "found", "after, min", "false alarms", "missed", "not shown"];

const cellsOf = (finding: string, { works, gpus, so, called, after, falseAlarms, missed, hidden }: Sums) => [
  works,
  gpus,
  finding,
  so,
  called,
  times(after),
  falseAlarms,
  missed,
  hidden,
];

/** One row for each shape and for each thing that it was, or was called; a shape that was neither has one row. */
function shapeRows(works: readonly WorkOutcome[]): readonly (readonly (string | number)[])[] {
  const names = new Set([...aloneShapes, ...gangShapes, ...partShapes].map(({ name }) => name));
  return [...names].flatMap((name) => {
    const own = works.filter(({ shape }) => shape === name);
    const rows = findings.flatMap((finding) => {
      const sums = sumsOf(own, finding);
      return isEmpty(sums) ? [] : [[name, ...cellsOf(finding, sums)]];
    });
    const none = sumsOf(own, "stalled");
    return rows.length > 0 || own.length === 0 ? rows : [[name, ...cellsOf("–", none)]];
  });
}

function pageRows(works: readonly WorkOutcome[]): readonly (readonly (string | number)[])[] {
  return [...new Set(works.map(({ page }) => page))].sort().flatMap((name) => {
    const own = works.filter(({ page }) => page === name);
    return findings.map((finding) => [name, ...cellsOf(finding, sumsOf(own, finding))]);
  });
}

function faultRows(faults: readonly FaultOutcome[]): readonly (readonly (string | number)[])[] {
  return [...Map.groupBy(faults, ({ fault }) => fault)]
    .sort(([a], [b]) => (a < b ? -1 : 1))
    .map(([name, own]) => {
      const so = own.filter(({ isTrue }) => isTrue);
      const unfound = so.filter(({ calledAfter }) => calledAfter === null);
      return [
        name,
        own[0]?.cause ?? "–",
        own.length,
        so.length,
        so.filter(({ calledAfter }) => calledAfter !== null).length,
        times(so.flatMap(({ calledAfter }) => (calledAfter === null ? [] : [calledAfter]))),
        own.filter(({ isFalseAlarm }) => isFalseAlarm).length,
        unfound.filter(({ isShown }) => isShown).length,
        unfound.filter(({ isShown }) => !isShown).length,
      ];
    });
}

const faultHead = [
  "what happens",
  "cause",
  "times",
  "so",
  "named",
  "after, min",
  "false alarms",
  "missed",
  "not shown",
];

/** How many of all, by finding, for the first table. */
function totalRows(works: readonly WorkOutcome[]): readonly (readonly (string | number)[])[] {
  return findings.map((finding) => {
    const { so, called, after, falseAlarms, missed, hidden } = sumsOf(works, finding);
    return [finding, so, called, times(after), falseAlarms, missed, hidden];
  });
}

/** The page about what is found and what is not, as `docs/activity.md` has it: the same bytes for the same seeds. */
export function activityReport(outcomes: readonly MixedOutcome[]): string {
  const works = outcomes.flatMap((one) => one.works);
  const faults = outcomes.flatMap(({ health }) => health.faults);
  const well = outcomes.reduce((sum, { health }) => sum + health.wellNodes, 0);
  const wellCalled = outcomes.reduce((sum, { health }) => sum + health.wellNodesCalled, 0);
  const seeds = outcomes.map(({ seed }) => seed);
  return `<!-- Written by \`npm run activity\` -->

# Stalled, dark, sick: what is found, and what is not

These are figures of the simulator, not of a real cluster: ${outcomes.length} mixed clusters (seeds ${Math.min(...seeds)} to ${Math.max(...seeds)}), each of 13 nodes with work of all the shapes
below, pages of all the kinds below, and a fault on up to four nodes, played for ${playedMinutes} minutes with the real exporter, one cycle a minute. Shapes, powers
and times are those that are published ([telemetry](telemetry.md), [serving](serving.md), [GPU health](gpu-health.md)); how often each comes up is drawn evenly and is no estimate of your cluster.
What is true is what the simulator did, never what Fairlead reads. The windows are those of the product: 15 minutes for \`stalled\`, 30 minutes for \`no-activity\` of
batch work (servers have a day, which is longer than a play), 2 hours for \`no-requests\`.

    npm run activity

Nothing in it depends on the machine: the same seeds give the same bytes. A test plays the first ${replayedSeeds} seeds again (digest \`${digestOf(outcomes.slice(0, replayedSeeds))}\`).
One of each, with a twin that only resembles it, is played in some seconds by \`npm run demo -- --scenario waste\` ([the demo](commands.md#stalled-dark-sick)).

${table(["called", "so", "found", "after, min", "false alarms", "missed", "not shown"], 1, totalRows(works))}

*So*: workloads for which it was true for the window and five minutes more. *Found*: those that were called so while it was true. *After*: minutes from when it began to be
true until it was found, the middle and the longest, which has time in it that the page did not show. *False alarms*: workloads that were called so in a cycle in which it was not true, for all or for some of their GPUs.
*Missed*: never found, although their pages showed it for long enough. *Not shown*: never found, and their pages do not show it (below).

## What nobody can see

- **Work that looks like a hang in every signal.** A kernel of one block keeps the engine busy with one multiprocessor, at little more than idle power and with no memory traffic: no
  counter of DCGM distinguishes it from a kernel that waits. It is called \`stalled\`. So are FP64 or integer codes at less than a fifth of the way to full power, and slow traffic over NVLink,
  where the page lacks the counter that would contradict (the FP64, integer and NVLink fields are not in any default list), and such codes on a GPU that heat slows down where the page lacks clock event reasons.
  \`stalled\` therefore asks the owner, and stops nothing.
- **A page without power, or without the tensor pipe or DRAM** (without profiling fields): nobody on it is ever called \`stalled\`; \`fairlead_stall_unknown_gpus\` counts those GPUs by the reason.
  Idleness is found all the same.
- **A GPU whose model is not in the table of idle and full power** (here the L4) is never called \`stalled\` until \`gpu.power\` names it.
- **A part of a GPU**: a MIG instance or a share is never called \`stalled\`, for power and engine are those of the whole GPU. An idle holder beside a busy one on a time-sliced GPU looks as busy.
  An instance on a page without profiling has no activity at all.
- **Locked profiling, a page that is frozen, empty or fails, no exporter**: nothing is called anything while it lasts. The instances of a GPU that is cut are not measured then
  either, which only the power of the GPU shows: their zeros are no idleness where its model is in the table.
- **A server without a counter of requests, or without a page**: gauges alone prove nothing.
- **A lowered power limit** lowers the power up to which a GPU is \`stalled\`, but a hang does not draw less for it: such a hang is missed, rather than work under a low limit called one.
- **Slowed down**: default lists lack clock event reasons, so that heat, brake and slowdown are not shown.
- **A GPU that falls off the bus of a node that has no other** leaves an empty page, which may mean anything: its time is lost as \`unknown\`.
- **The last moments before a node is lost**: its last page is used for up to 90 s more, so that who was idle before stays so for that long, which counts as a false alarm here.

## Published duty cycles

- In the samples of two published clusters of A100 (Acme, NSDI'24: Seren and Kalos) at least 27 % and 23 % of all samples look busy (GPU_UTIL of 90 % and more) at no more power than a hang draws,
  whatever goes with what. Power alone would call them \`stalled\`; tensor and DRAM, which these clusters did not record, decide with it.
- The duty cycles of 143 pods over a day (Alibaba's genai-2026), taken for servers whose requests are the samples above 0 %: none is called \`no-requests\` that comes back within two hours, all others are, and none
  is called idle by its activity alone. Two hours without work are common there: more than half of the pods have them, and about half of these work again on the same day. So \`no-requests\` is a reason to ask an owner, not to stop a server.

\`test/e2e/activity/dutyCycles.test.ts\` checks both where the traces are.

## By what the work does

${table(["what it does", ...findingHead], 1, shapeRows(works))}

A row for each shape and each of the three that it was, or was called. A page counts by where the first GPU of a workload is.

## By what the page shows

${table(["page", ...findingHead], 1, pageRows(works))}

## By fault

${table(faultHead, 2, faultRows(faults))}

*So*: the fault has a cause and lasted ten minutes; where it slows a GPU down, work was there. *False alarms*: another cause was named on the node, or one after the repair. Of ${well} nodes without a
fault, ${wellCalled} had a cause named. Without an exporter a lost GPU is counted as lost, but only as \`unknown\` or \`pod_status\`: its cause is not shown.
`;
}
