import type { Review } from "../document/review.ts";
import type { Action, TrackRecord } from "../document/waste.ts";
import { actionStates, longText, nameText } from "../words/names.ts";
import { dayText } from "../words/times.ts";
import { money } from "./money.ts";
import {
  figure,
  longColumn,
  numberColumn,
  type Sentence,
  shortColumn,
  type Table,
  tableOf,
  textColumn,
} from "./section.ts";

const gain = ({ predictedGpuHoursPerWeek }: Action) => figure("gain", "GPU-h/week", predictedGpuHoursPerWeek);

/** The table of what could be done: what, its gain, saving, cost and risk, and who can do it. */
export function actionTable({ actions, clusters }: Review): Table | null {
  return tableOf(actions, clusters, {
    section: "actions",
    caption: "At most five, the one with the most worth first; every gain is simulated",
    rowHeading: "what",
    row: (one) => ({ item: nameText(one.id), cluster: one.cluster, head: actionTitle(one) }),
    columns: [
      [numberColumn("gain"), gain],
      [numberColumn("GPUs", "GPUs"), ({ predictedGpus }) => figure("predicted_gpus", "GPUs", predictedGpus)],
      [numberColumn("saves"), ({ savingPerWeek }) => money("saving", savingPerWeek, "week")],
      [numberColumn("work done again", "GPU-h"), ({ lostGpuHours }) => figure("lost", "GPU-h", lostGpuHours)],
      [longColumn("risk"), ({ risk }) => [longText(risk)]],
      [textColumn("who would do it"), ({ owner }) => [nameText(owner)]],
    ],
  });
}

/** The title of an action, on one line. */
export const actionTitle = ({ title }: Action): string => longText(title);

/** The table of what was looked at and is not advised, and why, beside what it costs to do nothing. */
export function notAdvisedTable({ notAdvised, clusters }: Review): Table | null {
  return tableOf(notAdvised, clusters, {
    section: "not_advised",
    caption: "What was looked at and is not advised, and why; of each the reason that lasted longest",
    rowHeading: "what",
    row: ({ kind, subject, cluster }) => ({
      item: nameText(`${kind} ${subject}`),
      cluster,
      head: subject === "" ? "all" : nameText(subject),
    }),
    columns: [
      [textColumn("kind"), ({ kind }) => [kind]],
      [longColumn("why not"), ({ reason }) => [longText(reason)]],
      [numberColumn("for"), ({ hours }) => figure("hours", "h", hours)],
      [numberColumn("idle nodes cost"), ({ costs }) => money("cost", costs)],
    ],
  });
}

/** Says in one sentence why nothing is advised; `null` where something is, or where the reasons were not kept. */
export function whyNothing({ actions, notAdvised }: Review): string | null {
  const [first] = notAdvised ?? [];
  if (actions === null || actions.length > 0 || notAdvised === null) return null;
  if (first === undefined)
    return "Nothing is advised, and nothing was held back: nothing was found that could be better.";
  const of = first.subject === "" ? "" : ` for ${nameText(first.subject)}`;
  return `Nothing is advised. Why not ${first.kind}${of}: ${longText(first.reason)}`;
}

/** The recommendations as sentences, for the summary. */
export function decisions({ actions }: Review): readonly (Sentence & { readonly title: string })[] {
  return (actions ?? []).map((one) => ({
    section: "actions",
    cluster: one.cluster,
    item: nameText(one.id),
    title: actionTitle(one),
    pieces: [
      ...gain(one),
      ...(Object.keys(one.savingPerWeek).length === 0 ? [] : [", ", ...money("saving", one.savingPerWeek, "week")]),
      ` (${nameText(one.owner)})`,
    ],
  }));
}

/** The table of what became of earlier advice, and what it achieved. */
export function lastActionTable({ lastActions, clusters }: Review): Table | null {
  return tableOf(lastActions, clusters, {
    section: "last_actions",
    caption: "What was taken, passed or was dismissed, and what was measured",
    rowHeading: "what",
    row: (one) => ({ item: nameText(one.id), cluster: one.cluster, head: actionTitle(one) }),
    columns: [
      [
        textColumn("became"),
        ({ state, records }) => [
          actionStates[state],
          ...(records > 1 ? [", ", ...figure("records", "count", records), " times"] : []),
        ],
      ],
      [shortColumn("on"), ({ closed }) => [closed === null ? "–" : dayText(closed)]],
      [
        longColumn("because"),
        ({ closedBecause, whyMeasured }) => [
          longText([closedBecause, whyMeasured].filter((why) => why !== null).join("; ")) || "–",
        ],
      ],
      [numberColumn("predicted", "GPUs"), ({ predictedGpus }) => figure("predicted_gpus", "GPUs", predictedGpus)],
      [numberColumn("measured", "GPUs"), ({ measuredGpus }) => figure("measured_gpus", "GPUs", measuredGpus)],
      [
        numberColumn("work done again, predicted", "GPU-h"),
        ({ lostGpuHours }) => figure("lost", "GPU-h", lostGpuHours),
      ],
      [numberColumn("measured", "GPU-h"), (one) => figure("measured_lost", "GPU-h", one.measuredLostGpuHours)],
    ],
  });
}

const acts: Readonly<Record<TrackRecord["act"], string>> = { do: "to do", ask: "to ask the owner", watch: "to watch" };

/** The table of how recommendations turned out: whether the work that they named came back by itself. */
export function trackTable({ trackRecords }: Review): Table | null {
  return tableOf(trackRecords?.length === 0 ? null : trackRecords, [], {
    section: "track_records",
    caption: "Whether what was recommended was right: work that was named and came back by itself makes it wrong",
    rowHeading: "kind",
    row: ({ kind, act }) => ({ item: `${kind} ${act}`, cluster: "", head: kind }),
    columns: [
      [textColumn("act"), ({ act }) => [acts[act]]],
      [numberColumn("right"), ({ stayed, ended }) => figure("right", "count", stayed + ended)],
      [numberColumn("came back"), ({ cameBack }) => figure("came_back", "count", cameBack)],
      [numberColumn("evicted again"), ({ evictedAgain }) => figure("evicted_again", "count", evictedAgain)],
      [numberColumn("lost for nothing", "GPU-h"), ({ regretGpuHours }) => figure("regret", "GPU-h", regretGpuHours)],
    ],
  });
}
