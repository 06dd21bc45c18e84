import type { CappedBy, EntitlementTrace, LevelTrace, SureStep, SurplusStep } from "../../analysis/fairness/trace.ts";
import type { Queueing } from "../../join/queues/queueing.ts";
import { gpuTolerance } from "../../model/gpuTolerance.ts";
import { gpus, percent } from "../terminal/columns.ts";
import { allQueuesOf } from "../terminal/queueWords.ts";
import type { EntitlementLevel, EntitlementLine } from "./entitlementSchema.ts";

/** The most shares that are named in one line; the rest is one share, so that they still add up. */
const namedShares = 500;

/** The levels of a trace as sums: the top one begins with the capacity of the domain. */
export function levelLines(trace: EntitlementTrace, queueing: Queueing): EntitlementLevel[] {
  const domain = queueing.domains[trace.domain];
  const nameOf = (index: number) => {
    const { kind, name = "?" } = queueing.queues[index] ?? {};
    return kind === "Scheduler" ? allQueuesOf(name) : name;
  };
  return trace.levels.map((level, depth) => {
    const own = trace.levels[depth + 1]?.parent ?? trace.head;
    const top =
      level.parent === null
        ? capacityLines(trace, level)
        : [lineOf("", `given to ${nameOf(level.parent)}`, level.grant, "from the level above")];
    const context = { nameOf, own };
    return {
      divides: level.parent === null ? `domain ${domain?.name ?? "?"}` : nameOf(level.parent),
      lines:
        level.results.length === 1
          ? [...top, ...onlyChildLines(level, context)]
          : [...top, ...divisionLines(level, context), ownLine(level, context)],
    };
  });
}

interface Context {
  readonly nameOf: (index: number) => string;
  /** The queue of this level on the way to the one that is explained. */
  readonly own: number;
}

function lineOf(
  sign: EntitlementLine["sign"],
  name: string,
  amount: number,
  how: string,
  shares: EntitlementLine["shares"] = [],
): EntitlementLine {
  return { sign, name, gpus: amount, how, shares };
}

function capacityLines(
  { capacity, setAside, allocatedElsewhere }: EntitlementTrace,
  { grant }: LevelTrace,
): EntitlementLine[] {
  const elsewhere = allocatedElsewhere > gpuTolerance ? ` + ${gpus(allocatedElsewhere)} allocated on others` : "";
  const lines = [
    lineOf(
      "",
      "capacity",
      capacity,
      `${gpus(capacity - allocatedElsewhere)} on nodes that are ready and schedulable${elsewhere}`,
    ),
  ];
  if (allocatedElsewhere > gpuTolerance)
    lines.push(
      lineOf(
        "-",
        "out of service",
        allocatedElsewhere,
        "allocated on nodes that take no pods; it stays with those who hold it",
      ),
    );
  if (setAside > gpuTolerance) lines.push(lineOf("-", "set aside", setAside, "allocated to what no queue answers for"));
  if (lines.length > 1) lines.push(lineOf("=", "to divide", grant, "among the queues"));
  return lines;
}

/** The lines of a queue that has no siblings to share with: the steps of the division are left out. */
function onlyChildLines({ grant, results }: LevelTrace, { nameOf, own }: Context): EntitlementLine[] {
  const { entitled = 0, demand = 0 } = results[0] ?? {};
  const left = grant - entitled;
  return [
    lineOf(">", nameOf(own), entitled, `the only one here; it can use ${gpus(demand)}`),
    ...(left > gpuTolerance ? [lineOf("=", "nobody can use", left, "")] : []),
  ];
}

function divisionLines(level: LevelTrace, context: Context): EntitlementLine[] {
  const { withheld, guarantees, surplus, steps, left } = level;
  const lines: EntitlementLine[] = [];
  if (withheld > gpuTolerance)
    lines.push(lineOf("-", "withheld", withheld, "quota that its owners neither use nor lend"));
  if (guarantees.shares.length > 0) lines.push(sureLine("guarantees", guarantees, context));
  if (lines.length > 0) lines.push(lineOf("=", "left to share", surplus, ""));
  if (lines.length > 0 && surplus <= gpuTolerance) return lines;
  const manyPriorities = new Set(steps.map(({ priority }) => priority)).size > 1;
  for (const step of steps) lines.push(surplusLine(step, manyPriorities, context));
  if (steps.length > 0) lines.push(lineOf("=", "nobody can use", left, ""));
  return lines;
}

function sureLine(name: string, { scale, shares }: SureStep, context: Context): EntitlementLine {
  const how = scale < 1 - 1e-9 ? `they do not fit: nobody gets more than ${percent(scale)} of its own` : "";
  return lineOf(
    "-",
    name,
    shares.reduce((sum, { got }) => sum + got, 0),
    how,
    sortShares(
      shares.map(({ queue, quota, asked, got }) => ({
        queue,
        gpus: got,
        note: `of ${gpus(quota)}${asked < quota - gpuTolerance ? `, can use ${gpus(asked)}` : ""}`,
      })),
      context,
    ),
  );
}

const ways: Readonly<Record<SurplusStep["by"], string>> = {
  weight: "by weight",
  history: "by weight and past use",
  last: "to weight 0, equally",
};

const caps: Readonly<Record<CappedBy, string>> = {
  demand: "its demand is met",
  limit: "its limit is met",
  weight: "without weight it gets nothing",
  nothing: "",
};

function surplusLine(
  { priority, by, available, shares, left }: SurplusStep,
  manyPriorities: boolean,
  context: Context,
) {
  const taken = shares.map(({ queue, weight, isFloor, got, headroom, cappedBy }) => {
    const why = cappedBy === "nothing" ? `could use ${gpus(headroom)}` : caps[cappedBy];
    const counted = isFloor ? ", of which its guarantee is a part" : "";
    return { queue, gpus: got, note: `${by === "last" ? "" : `weight ${weight}${counted}, `}${why}` };
  });
  const name = manyPriorities ? `${ways[by]}, priority ${priority}` : ways[by];
  return lineOf("-", name, available - left, "", sortShares(taken, context));
}

interface Share {
  readonly queue: number;
  readonly gpus: number;
  readonly note: string;
}

/** Sorts shares: the queue that is explained comes first, then the largest. */
function sortShares(shares: readonly Share[], { nameOf, own }: Context): EntitlementLine["shares"] {
  const sorted = shares.toSorted((a, b) => Number(b.queue === own) - Number(a.queue === own) || b.gpus - a.gpus);
  const shown = sorted.slice(0, namedShares).map((share) => ({ ...share, queue: nameOf(share.queue) }));
  const rest = sorted.slice(namedShares);
  if (rest.length === 0) return shown;
  const others = rest.reduce((sum, share) => sum + share.gpus, 0);
  return [...shown, { queue: `${rest.length} others`, gpus: others, note: "" }];
}

function ownLine(level: LevelTrace, { nameOf, own }: Context): EntitlementLine {
  const sure = (step: SureStep) => step.shares.find(({ queue }) => queue === own)?.got ?? 0;
  const shared = level.steps.reduce(
    (sum, { shares }) => sum + (shares.find(({ queue }) => queue === own)?.got ?? 0),
    0,
  );
  const parts = [
    [sure(level.guarantees), "guaranteed"],
    [shared, "of what is shared"],
  ] as const;
  const how = parts.filter(([amount]) => amount > gpuTolerance).map(([amount, what]) => `${gpus(amount)} ${what}`);
  const result = level.results.find(({ queue }) => queue === own);
  const demand = result === undefined ? "" : `; it can use ${gpus(result.demand)}`;
  return lineOf(">", nameOf(own), result?.entitled ?? 0, `${how.join(" + ") || "nothing"}${demand}`);
}
