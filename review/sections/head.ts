import type { Review } from "../document/review.ts";
import { gapText, longText, nameText, priceSourceText } from "../words/names.ts";
import { dayText, minuteText } from "../words/times.ts";
import { figure, numberColumn, type Sentence, type Table, tableOf, textColumn } from "./section.ts";

/** The most gaps that a page names. */
const shownGaps = 3;

/** Whether any of the window is known. Without that there is no number to show. */
export const isCovered = ({ coverage }: Review): boolean => coverage.coveredSeconds > 0;

/**
 * Sentences that come before any other number: how much of the window is known, at what prices it was counted, and what is
 * missing.
 */
export function headSentences(review: Review): readonly Sentence[] {
  const whole = (item: string, pieces: Sentence["pieces"]): Sentence => ({
    section: "head",
    cluster: "",
    item,
    pieces,
  });
  return [
    whole("coverage", coveragePieces(review)),
    ...(review.coverage.gaps.length === 0 ? [] : [whole("gaps", [gapsText(review)])]),
    ...(isCovered(review) ? [whole("prices", [pricesText(review)]), ...partSentences(review, whole)] : []),
  ];
}

function coveragePieces({ coverage }: Review): Sentence["pieces"] {
  const { ratio, coveredSeconds, windowSeconds } = coverage;
  if (coveredSeconds === 0)
    return ["Nothing of this time is counted, so there are no numbers. Was Fairlead running, with a ledger?"];
  return [
    "Covered: ",
    ...figure("coverage", "ratio", ratio),
    " (",
    ...figure("covered", "s", coveredSeconds),
    " of ",
    ...figure("window", "s", windowSeconds),
    ")",
  ];
}

function gapsText({ coverage, clusters }: Review): string {
  const gaps = coverage.gaps.slice(0, shownGaps).map(({ cluster, from, to, reason }) => {
    const where = clusters.length > 1 ? `${nameText(cluster)}, ` : "";
    return `${minuteText(from)} to ${minuteText(to)} (${where}${gapText(reason)})`;
  });
  const rest = coverage.gaps.length - gaps.length + coverage.gapsLeftOut;
  return `Not covered: ${gaps.join("; ")}${rest > 0 ? `; and ${rest} more` : ""}. It is in no number below.`;
}

function pricesText({ prices, clusters }: Review): string {
  if (prices.length === 0) return "Prices: none are known.";
  const texts = prices.slice(0, 6).map(({ cluster, source, basis, currency, datedFrom, datedTo }) => {
    const [from, to] = [datedFrom, datedTo].map((date) => (date === null ? null : dayText(date)));
    const dates =
      from === null && to === null ? ", no date" : from === to ? ` of ${from}` : ` of ${from ?? "?"} to ${to ?? "?"}`;
    const where = clusters.length > 1 ? `${nameText(cluster)}: ` : "";
    return `${where}${priceSourceText(source)}${dates}, ${nameText(currency)}, ${nameText(basis)}`;
  });
  const rest = prices.length - texts.length;
  return `Prices: ${texts.join("; ")}${rest > 0 ? `; and ${rest} more` : ""}.`;
}

function partSentences(
  { unpricedGpuHours, estimatedGpuHours, unobservedGpuHours }: Review,
  whole: (item: string, pieces: Sentence["pieces"]) => Sentence,
): readonly Sentence[] {
  const unpriced = unpricedGpuHours ?? 0;
  const estimated = estimatedGpuHours ?? 0;
  const pieces: Sentence["pieces"][] = [];
  if (unpriced > 0) pieces.push([...figure("unpriced", "GPU-h", unpriced), " without a price"]);
  if (unobservedGpuHours > 0)
    pieces.push([...figure("unobserved", "GPU-h", unobservedGpuHours), " allocated without telemetry"]);
  if (estimated > 0) pieces.push([...figure("estimated", "GPU-h", estimated), " with an estimated device or split"]);
  if (pieces.length === 0) return [];
  return [whole("parts", ["Of all: ", ...pieces.flatMap((one, i) => (i === 0 ? one : [", ", ...one])), "."])];
}

/** The table of the coverage of each cluster; `null` unless there are several. */
export function coverageTable({ clusters, coverage }: Review): Table | null {
  return tableOf(clusters.length < 2 ? null : coverage.byCluster, [], {
    section: "coverage",
    caption: "Covered time by cluster",
    rowHeading: "cluster",
    row: ({ cluster }) => ({ item: "", cluster, head: nameText(cluster) }),
    columns: [
      [numberColumn("coverage"), ({ ratio }) => figure("coverage", "ratio", ratio)],
      [numberColumn("covered"), ({ coveredSeconds }) => figure("covered", "s", coveredSeconds)],
      [numberColumn("of"), ({ windowSeconds }) => figure("window", "s", windowSeconds)],
    ],
  });
}

/** The notes about what a reader should know before trusting a number, as text. */
export function noteTexts({ notes, clusters }: Review): readonly string[] {
  return notes.map(({ cluster, text }) =>
    cluster === null || clusters.length < 2 ? longText(text) : `${nameText(cluster)}: ${longText(text)}`,
  );
}

/** The table of all prices, for the CSV and the foot of the page. */
export function priceTable({ prices }: Review): Table {
  return tableOf(prices, [], {
    section: "prices",
    caption: "Prices that were used",
    rowHeading: "source",
    row: ({ source, basis, currency, cluster }) => ({
      item: [source, basis, currency].map(nameText).join(" / "),
      cluster,
      head: nameText(source),
    }),
    columns: [
      [textColumn("basis"), ({ basis }) => [nameText(basis)]],
      [textColumn("currency"), ({ currency }) => [nameText(currency)]],
      [numberColumn("dated from"), ({ datedFrom }) => figure("dated_from", "date", datedFrom)],
      [numberColumn("dated to"), ({ datedTo }) => figure("dated_to", "date", datedTo)],
    ],
  });
}
