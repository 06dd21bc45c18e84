import { dropName, levelNames } from "../../exporter/publish/stateNames.ts";
import type { Review } from "../document/review.ts";
import type { WaterfallStageRow } from "../document/use.ts";
import { nameText } from "../words/names.ts";
import { money } from "./money.ts";
import { figure, numberColumn, type Piece, type Row, type Table, textColumn } from "./section.ts";

/**
 * The stages that are shown. A team has no capacity of its own, so its review leaves out levels that would only repeat the one
 * below.
 */
export function shownStages({ waterfall, team }: Pick<Review, "waterfall" | "team">): readonly WaterfallStageRow[] {
  if (team === null) return waterfall;
  return waterfall.filter(
    ({ level, drops }) => level === "allocated" || level === "active" || drops.some(({ gpuHours }) => gpuHours > 0),
  );
}

/** The table of where the GPU time went: each level, its losses, and who can act on each. */
export function wasteTable(review: Review): Table {
  return {
    section: "waterfall",
    caption: "Where the GPU time went: each level is the next one and the losses between",
    rowHeading: "",
    columns: [numberColumn("GPU-h", "GPU-h"), numberColumn("cost"), textColumn("who can act")],
    rows: shownStages(review).flatMap((stage) => stageRows(stage, review.team)),
  };
}

function stageRows({ level, gpuHours, costs, drops }: WaterfallStageRow, team: string | null): readonly Row[] {
  const name = team !== null && level === "capacity" ? "allocated, or unavailable" : levelNames[level];
  return [
    {
      item: level,
      cluster: "",
      head: name,
      cells: [figure("gpu_hours", "GPU-h", gpuHours), money("cost", costs), [""]],
    },
    ...drops.map((drop): Row => {
      const name = dropName(drop.state, drop.isAllocated);
      const stranded: readonly Piece[] =
        drop.strandedGpuHours === null || drop.strandedGpuHours === 0
          ? []
          : ["; ", ...figure("stranded", "GPU-h", drop.strandedGpuHours), " of it stranded"];
      return {
        item: name,
        cluster: "",
        head: name,
        isPart: true,
        cells: [
          figure("gpu_hours", "GPU-h", drop.gpuHours),
          money("cost", drop.costs),
          [nameText(drop.owner), ...stranded],
        ],
      };
    }),
  ];
}
