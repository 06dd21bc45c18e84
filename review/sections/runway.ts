import type { Review } from "../document/review.ts";
import type { RunOut, Runway } from "../document/waste.ts";
import { runOutText } from "../words/runOutText.ts";
import { dayText } from "../words/times.ts";
import { domainItem } from "./demand.ts";
import { figure, longColumn, numberColumn, type Table, tableOf } from "./section.ts";

/** The table of how long the GPUs of each domain last. */
export function runwayTable({ runway, clusters }: Review): Table | null {
  return tableOf(runway, clusters, {
    section: "runway",
    caption: "When p95 demand outgrows capacity (four of five cases lie within the dates)",
    rowHeading: "quota domain",
    row: ({ domain, cluster }) => ({ item: domainItem(domain), cluster, head: domainItem(domain) }),
    columns: [
      [numberColumn("p95 demand", "GPUs"), ({ p95DemandGpus }) => figure("p95_demand", "GPUs", p95DemandGpus)],
      [numberColumn("capacity", "GPUs"), ({ capacityGpus }) => figure("capacity", "GPUs", capacityGpus)],
      [numberColumn("trend"), ({ trendGpusPerWeek }) => figure("trend", "GPUs/week", trendGpusPerWeek)],
      [longColumn("capacity lasts until"), ({ runsOut }) => [runOutText(runsOut)]],
      [numberColumn("idle", "GPUs"), ({ recoverableGpus }) => figure("recoverable", "GPUs", recoverableGpus)],
      [longColumn("without that waste until"), ({ runsOutWithoutWaste }) => [runOutText(runsOutWithoutWaste)]],
    ],
  });
}

/** The table of the weeks that a domain's runway rests on. */
export function runwayWeekTable({ cluster, domain, weeks }: Runway): Table {
  const item = domainItem(domain);
  return tableOf(weeks, [], {
    section: "runway_weeks",
    caption: `${item}, p95 demand by week`,
    rowHeading: "week from",
    row: ({ from }) => ({ item: `${item} ${from}`, cluster, head: dayText(from) }),
    columns: [[numberColumn("p95 demand", "GPUs"), (week) => figure("p95_demand", "GPUs", week.p95DemandGpus)]],
  });
}

/** The table of the dates at which the GPUs of a domain run out, for the CSV. */
export function runOutTable({ cluster, domain, runsOut, runsOutWithoutWaste }: Runway): Table {
  const dates = (without: string, { earliest, likely, latest }: RunOut) => [
    figure(`runs_out_earliest${without}`, "date", earliest),
    figure(`runs_out_likely${without}`, "date", likely),
    figure(`runs_out_latest${without}`, "date", latest),
  ];
  const item = domainItem(domain);
  const cells = [...dates("", runsOut), ...dates("_without_waste", runsOutWithoutWaste)];
  const rows = [{ item, cluster, head: item, cells }];
  return { section: "runway", caption: "Dates", rowHeading: "quota domain", columns: [], rows };
}
