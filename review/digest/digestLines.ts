import { shownMinute } from "../../exporter/kernel/isoTime.ts";
import { duration, wholeGpus } from "../../exporter/publish/terminal/columns.ts";
import { chatText } from "../chat/chatText.ts";
import { moneyFigures } from "../words/figure.ts";
import { spokenText } from "../words/figureText.ts";
import { nameText, teamText } from "../words/names.ts";
import type { IdleDigest, IdleGpus } from "./idleDigests.ts";

const mostLines = 10;
const weekdays = ["Sunday", "Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday"] as const;

/** Says whose digest it is: `team ads`, `owner ann`. */
export function digestName({ of: { kind, name } }: IdleDigest): string {
  return kind === "owner" ? `owner ${nameText(name)}` : name === "" ? teamText(name) : `team ${teamText(name)}`;
}

/**
 * A digest as lines for a chat, without what a chat takes for markup: what is idle and what it costs, workload by workload, and
 * what to do. `now` in milliseconds since the epoch.
 */
export function digestLines(digest: IdleDigest, cluster: string | null, now: number): readonly string[] {
  const { idle } = digest;
  const where = cluster === null ? "" : ` in ${chatText(nameText(cluster))}`;
  const rest = idle.slice(mostLines);
  return [
    `Idle GPUs of ${chatText(digestName(digest))}${where}: ${sumText(idle)}`,
    ...idle.slice(0, mostLines).map((one) => idleLine(one, now)),
    ...(rest.length === 0 ? [] : [`and in ${rest.length} more workloads: ${sumText(rest)}`]),
    "Next step: end or scale down what is not needed; fairlead explain workload NAMESPACE/KIND/NAME says why it counts as idle.",
  ];
}

/** The line of one workload: `2 A100 idle since Friday 2026-11-20 14:05 UTC (3 d 2 h), $ 165 a day: Notebook ads/big`. */
function idleLine(one: IdleGpus, now: number): string {
  const { workload, model, reason, gpus, since } = one;
  const begin = Date.parse(since);
  const day = weekdays[new Date(begin).getUTCDay()] ?? "";
  const named = chatText(`${nameText(workload.kind)} ${nameText(workload.namespace)}/${nameText(workload.name)}`);
  const when = `${day} ${shownMinute(since)} UTC (${duration((now - begin) / 1000)})`;
  return `${wholeGpus(gpus)} ${chatText(nameText(model))} idle since ${when}, ${costText([one])}: ${named}${reasonWords[reason]}`;
}

/** What is added to a line for each reason; that nothing runs is the usual one, and is not mentioned. */
const reasonWords: Readonly<Record<IdleGpus["reason"], string>> = {
  "no-activity": "",
  "no-requests": " (no request has come)",
  asleep: " (its server sleeps, and no request has come)",
};

function sumText(idle: readonly IdleGpus[]): string {
  const gpus = wholeGpus(idle.reduce((sum, one) => sum + one.gpus, 0));
  return `${gpus} GPU${gpus === "1" ? "" : "s"}, ${costText(idle)}`;
}

/** What idle GPUs cost a day. GPUs without a known price are mentioned, and do not count as 0. */
function costText(idle: readonly IdleGpus[]): string {
  const costs: Record<string, number> = {};
  let unpriced = 0;
  for (const { costsPerDay, unpricedGpus } of idle) {
    unpriced += unpricedGpus;
    for (const [currency, perDay] of Object.entries(costsPerDay)) costs[currency] = (costs[currency] ?? 0) + perDay;
  }
  const known = moneyFigures("cost", costs, "day").map((figure) => chatText(spokenText(figure)));
  if (known.length === 0) return "price unknown";
  return `${known.join(" + ")}${unpriced > 0 ? `, and ${wholeGpus(unpriced)} of unknown price` : ""}`;
}
