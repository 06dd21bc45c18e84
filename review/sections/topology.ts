import type { Review } from "../document/review.ts";
import type { FittedGangs } from "../document/topology.ts";
import { nameText } from "../words/names.ts";
import { figure, numberColumn, type Table, tableOf, textColumn } from "./section.ts";

/** The table of the largest gangs that fitted within one domain of each level; `null` where no level is known. */
export function topologyTable({ topology, clusters }: Review): Table | null {
  const [first] = topology ?? [];
  return tableOf(first === undefined ? null : topology, clusters, {
    section: "topology",
    caption: "Largest gang that fitted within one domain, and the part of the time in which gangs of each size did",
    rowHeading: "GPUs",
    row: ({ pool, level, cluster }) => ({
      item: [pool, level].map(nameText).join(" / "),
      cluster,
      head: nameText(pool),
    }),
    columns: [
      [textColumn("level"), ({ level }) => [nameText(level)]],
      [numberColumn("covered"), ({ hours }) => figure("covered", "h", hours)],
      [numberColumn("largest at any moment", "GPUs"), (one) => figure("largest_gang", "GPUs", one.largestGpus)],
      [numberColumn("half of the time", "GPUs"), (one) => figure("half_of_time_gang", "GPUs", one.halfOfTimeGpus)],
      ...(first?.gangs ?? []).map(
        ({ gpus }, i) =>
          [
            numberColumn(`gang of ${gpus}`),
            ({ gangs }: FittedGangs) => figure(`fitted_${gpus}`, "ratio", gangs[i]?.ratio ?? null),
          ] as const,
      ),
    ],
  });
}
