import type { Review } from "../document/review.ts";
import type { Action, TrackRecord } from "../document/waste.ts";
import type { Figure } from "../words/figure.ts";
import { actionStates, longText, nameText } from "../words/names.ts";
import { dayText } from "../words/times.ts";
import { money } from "./money.ts";
import { longColumn, numberColumn, type Sentence, shortColumn, type Table, textColumn } from "./section.ts";
import { withClusters } from "./withClusters.ts";

const gpuHours = (measure: string, value: number | null): Figure => ({ measure, unit: "GPU-h", value });
const gpus = (measure: string, value: number | null): Figure => ({ measure, unit: "GPUs", value });
const count = (measure: string, value: number): Figure => ({ measure, unit: "count", value });
const gain = ({ predictedGpuHoursPerWeek }: Action): Figure => ({
  measure: "gain",
  unit: "GPU-h/week",
  value: predictedGpuHoursPerWeek,
});

/** What could be done: what, gain, saving, cost, risk, who. */
export function actionTable(review: Review): Table | null {
  if (review.actions === null) return null;
  return withClusters(review, {
    section: "actions",
    caption: "At most five, the one with the most worth first; every gain is simulated",
    rowHeading: "what",
    columns: [
      numberColumn("gain"),
      numberColumn("GPUs", "GPUs"),
      numberColumn("saves"),
      numberColumn("work done again", "GPU-h"),
      longColumn("risk"),
      textColumn("who would do it"),
    ],
    rows: review.actions.map((one) => ({
      item: nameText(one.id),
      cluster: one.cluster,
      head: actionTitle(one),
      cells: [
        [gain(one)],
        [gpus("predicted_gpus", one.predictedGpus)],
        money("saving", one.savingPerWeek, "week"),
        [gpuHours("lost", one.lostGpuHours)],
        [longText(one.risk)],
        [nameText(one.owner)],
      ],
    })),
  });
}

/** What an action is, on one line. */
export const actionTitle = ({ title }: Action): string => longText(title);

const recordsOf = ({ records }: Action): Figure => ({ measure: "records", unit: "count", value: records });

/** What was looked at and is not advised, and why: beside what it costs that nothing is done. */
export function notAdvisedTable(review: Review): Table | null {
  if (review.notAdvised === null) return null;
  return withClusters(review, {
    section: "not_advised",
    caption: "What was looked at and is not advised, and why; of each the reason that lasted longest",
    rowHeading: "what",
    columns: [textColumn("kind"), longColumn("why not"), numberColumn("for"), numberColumn("idle nodes cost")],
    rows: review.notAdvised.map((one) => ({
      item: nameText(`${one.kind} ${one.subject}`),
      cluster: one.cluster,
      head: one.subject === "" ? "all" : nameText(one.subject),
      cells: [
        [one.kind],
        [longText(one.reason)],
        [{ measure: "hours", unit: "h", value: one.hours }],
        money("cost", one.costs),
      ],
    })),
  });
}

/** Why nothing is advised, in one sentence; `null` where something is, or nobody kept why. */
export function whyNothing({ actions, notAdvised }: Review): string | null {
  const [first] = notAdvised ?? [];
  if (actions === null || actions.length > 0 || notAdvised === null) return null;
  if (first === undefined)
    return "Nothing is advised, and nothing was held back: nothing was found that could be better.";
  const of = first.subject === "" ? "" : ` for ${nameText(first.subject)}`;
  return `Nothing is advised. Why not ${first.kind}${of}: ${longText(first.reason)}`;
}

/** The same as sentences, for the list near the top. */
export function decisions({ actions }: Review): readonly (Sentence & { readonly title: string })[] {
  return (actions ?? []).map((one) => ({
    section: "actions",
    cluster: one.cluster,
    item: nameText(one.id),
    title: actionTitle(one),
    pieces: [
      gain(one),
      ...(Object.keys(one.savingPerWeek).length === 0 ? [] : [", ", ...money("saving", one.savingPerWeek, "week")]),
      ` (${nameText(one.owner)})`,
    ],
  }));
}

/** What became of earlier advice, and what it did. */
export function lastActionTable(review: Review): Table | null {
  if (review.lastActions === null) return null;
  return withClusters(review, {
    section: "last_actions",
    caption: "What was taken, passed or was dismissed, and what was measured",
    rowHeading: "what",
    columns: [
      textColumn("became"),
      shortColumn("on"),
      longColumn("because"),
      numberColumn("predicted", "GPUs"),
      numberColumn("measured", "GPUs"),
      numberColumn("work done again, predicted", "GPU-h"),
      numberColumn("measured", "GPU-h"),
    ],
    rows: review.lastActions.map((one) => ({
      item: nameText(one.id),
      cluster: one.cluster,
      head: actionTitle(one),
      cells: [
        [actionStates[one.state], ...(one.records > 1 ? [", ", recordsOf(one), " times"] : [])],
        [one.closed === null ? "–" : dayText(one.closed)],
        [longText([one.closedBecause, one.whyMeasured].filter((why) => why !== null).join("; ")) || "–"],
        [gpus("predicted_gpus", one.predictedGpus)],
        [gpus("measured_gpus", one.measuredGpus)],
        [gpuHours("lost", one.lostGpuHours)],
        [gpuHours("measured_lost", one.measuredLostGpuHours)],
      ],
    })),
  });
}

const acts: Readonly<Record<TrackRecord["act"], string>> = { do: "to do", ask: "to ask the owner", watch: "to watch" };

/** How what was recommended turned out: whether the work that was named came back by itself. */
export function trackTable(review: Review): Table | null {
  if (review.trackRecords === null || review.trackRecords.length === 0) return null;
  return {
    section: "track_records",
    caption: "Whether what was recommended was right: work that was named and came back by itself makes it wrong",
    rowHeading: "kind",
    columns: [
      textColumn("act"),
      numberColumn("right"),
      numberColumn("came back"),
      numberColumn("evicted again"),
      numberColumn("lost for nothing", "GPU-h"),
    ],
    rows: review.trackRecords.map((one) => ({
      item: `${one.kind} ${one.act}`,
      cluster: "",
      head: one.kind,
      cells: [
        [acts[one.act]],
        [count("right", one.stayed + one.ended)],
        [count("came_back", one.cameBack)],
        [count("evicted_again", one.evictedAgain)],
        [gpuHours("regret", one.regretGpuHours)],
      ],
    })),
  };
}
