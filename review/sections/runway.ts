import type { Review } from "../document/review.ts";
import type { RunOut, Runway } from "../document/waste.ts";
import type { Figure } from "../words/figure.ts";
import { runOutText } from "../words/runOutText.ts";
import { dayText } from "../words/times.ts";
import { domainItem } from "./demand.ts";
import { longColumn, numberColumn, type Table } from "./section.ts";
import { withClusters } from "./withClusters.ts";

const gpus = (measure: string, value: number | null): Figure => ({ measure, unit: "GPUs", value });

/** How long each domain's GPUs last. */
export function runwayTable(review: Review): Table | null {
  if (review.runway === null) return null;
  return withClusters(review, {
    section: "runway",
    caption: "When p95 demand outgrows capacity (four of five cases lie within the dates)",
    rowHeading: "quota domain",
    columns: [
      numberColumn("p95 demand", "GPUs"),
      numberColumn("capacity", "GPUs"),
      numberColumn("trend"),
      longColumn("capacity lasts until"),
      numberColumn("idle", "GPUs"),
      longColumn("without that waste until"),
    ],
    rows: review.runway.map((one) => ({
      item: domainItem(one.domain),
      cluster: one.cluster,
      head: domainItem(one.domain),
      cells: [
        [gpus("p95_demand", one.p95DemandGpus)],
        [gpus("capacity", one.capacityGpus)],
        [{ measure: "trend", unit: "GPUs/week", value: one.trendGpusPerWeek }],
        [runOutText(one.runsOut)],
        [gpus("recoverable", one.recoverableGpus)],
        [runOutText(one.runsOutWithoutWaste)],
      ],
    })),
  });
}

/** The weeks that a domain's runway rests on. */
export function runwayWeekTable({ cluster, domain, weeks }: Runway): Table {
  const item = domainItem(domain);
  return {
    section: "runway_weeks",
    caption: `${item}, p95 demand by week`,
    rowHeading: "week from",
    columns: [numberColumn("p95 demand", "GPUs")],
    rows: weeks.map(({ from, p95DemandGpus }) => ({
      item: `${item} ${from}`,
      cluster,
      head: dayText(from),
      cells: [[gpus("p95_demand", p95DemandGpus)]],
    })),
  };
}

/** The dates, for the CSV. */
export function runOutTable({ cluster, domain, runsOut, runsOutWithoutWaste }: Runway): Table {
  const dates = (without: string, { earliest, likely, latest }: RunOut) => [
    [{ measure: `runs_out_earliest${without}`, unit: "date", value: earliest } as const],
    [{ measure: `runs_out_likely${without}`, unit: "date", value: likely } as const],
    [{ measure: `runs_out_latest${without}`, unit: "date", value: latest } as const],
  ];
  const item = domainItem(domain);
  return {
    section: "runway",
    caption: "Dates",
    rowHeading: "quota domain",
    columns: [],
    rows: [
      {
        item,
        cluster,
        head: item,
        cells: [...dates("", runsOut), ...dates("_without_waste", runsOutWithoutWaste)],
      },
    ],
  };
}
