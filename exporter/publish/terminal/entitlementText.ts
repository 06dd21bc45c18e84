import { shownMinute } from "../../kernel/isoTime.ts";
import type { Entitlement, EntitlementLine } from "../explain/entitlementSchema.ts";
import { duration, gpus, plainText, signed } from "./columns.ts";
import { fold, type Line } from "./layout.ts";
import { queueKind } from "./queueWords.ts";
import { startSentence, startsExplained } from "./startText.ts";

/** The most shares that a line names; the rest is one amount behind them. */
const shownShares = 8;

/** How a queue comes to its entitlement, for a terminal. */
export function entitlementText(one: Entitlement): readonly Line[] {
  return [
    ...fold(entitlementTitle(one), "  "),
    ...(one.unknownBecause === null ? [] : fold(`  it is not known: ${plainText(one.unknownBecause, 300)}`, "    ")),
    ...one.levels.flatMap(({ divides, lines }) => [`  ${plainText(divides, 60)}`, ...levelText(lines)]),
    ...(one.why.length === 0 ? [] : fold(`  ${one.why.join(" ")}`, "  ")),
    ...viewTexts(one).flatMap((text) => fold(`  ${text}`, "    ")),
    ...waitingLines(one),
    ...one.findings.flatMap(({ kind, name, reason, change }) => [
      ...fold(`  finding: ${plainText(kind, 30)} ${plainText(name, 60)}: ${plainText(reason, 600)}`, "    "),
      ...fold(`    -> ${plainText(change, 600)}`, "       "),
    ]),
    "",
  ];
}

/** What a queue has and is entitled to, in one line. */
export function entitlementTitle({
  scheduler,
  kind,
  name,
  domain,
  path,
  entitled,
  allocated,
  pending,
  deviation,
  shortSince,
}: Entitlement): string {
  const above = path.length === 0 ? "" : ` in ${path.map((one) => plainText(one, 40)).join(" / ")}`;
  const system = queueKind({ scheduler, kind });
  const share =
    entitled === null || deviation === null
      ? "entitled to unknown"
      : `entitled to ${gpus(entitled)} GPUs (deviation ${signed(deviation)})`;
  return `${plainText(name, 60)} (${system}${above}), domain ${plainText(domain, 60)}: ${share}, holds ${gpus(allocated)}, waits for ${gpus(pending)}${shortSince === null ? "" : `, short since ${shownMinute(shortSince)} UTC`}`;
}

/** The lines of a level, with names in one column and amounts in the next, so that readers can add them up. */
function levelText(lines: readonly EntitlementLine[]): readonly Line[] {
  const names = lines.map(({ sign, name }) => `${sign.padEnd(2)}${plainText(name, 28)}`);
  const amounts = lines.map((line) => gpus(line.gpus));
  const nameWidth = Math.max(...names.map((name) => name.length));
  const amountWidth = Math.max(...amounts.map((amount) => amount.length));
  const indent = " ".repeat(4 + nameWidth + 2 + amountWidth + 3);
  return lines.flatMap(({ how, shares }, i) => {
    const text = [...(how === "" ? [] : [plainText(how, 300)]), ...shareTexts(shares)].join("; ");
    const head = `    ${(names[i] ?? "").padEnd(nameWidth)}  ${(amounts[i] ?? "").padStart(amountWidth)}   `;
    return fold(`${head}${text}`.trimEnd(), indent);
  });
}

/** Who gets which part of a line: the first ones by name, the rest as one amount. */
export function shareTexts(shares: EntitlementLine["shares"]): readonly string[] {
  const shown = shares
    .slice(0, shownShares)
    .map(
      ({ queue, gpus: amount, note }) => `${plainText(queue, 40)} ${gpus(amount)}${note === "" ? "" : ` (${note})`}`,
    );
  const rest = shares.slice(shownShares);
  if (rest.length === 0) return shown;
  return [...shown, `${rest.length} more ${gpus(rest.reduce((sum, share) => sum + share.gpus, 0))}`];
}

const numberNames: Readonly<Record<Entitlement["schedulerViews"][number]["number"], string>> = {
  "kueue-reserved-gpus": "Kueue's reserved GPUs",
  "kueue-weighted-share": "Kueue's weighted share",
  "kueue-admission-usage": "Kueue's usage for admission fair sharing",
  "kai-fair-share": "KAI's fair share (GPUs)",
  "kai-fair-share-with-history": "KAI's fair share with past use (GPUs)",
  "kai-allocated-gpus": "KAI's allocated GPUs",
  "volcano-allocated-gpus": "Volcano's allocated GPUs",
  "volcano-deserved": "Volcano's deserved GPUs",
  "volcano-share": "Volcano's share (allocated / deserved)",
};

/** The numbers of the scheduler itself beside Fairlead's. */
export function viewTexts({ schedulerViews }: Entitlement): readonly string[] {
  const text = (value: number | "Infinity" | null) =>
    value === null ? "unknown" : value === "Infinity" ? "infinite" : String(Math.round(value * 1000) / 1000);
  return schedulerViews.map(
    ({ number, shard, computed, reported }) =>
      `${numberNames[number]}${shard === "" ? "" : ` in ${plainText(shard, 60)}`}: computed ${text(computed)}, reported ${text(reported)}`,
  );
}

/** What a gang waits for, and what it would like in addition where less is enough, or is there already. */
export function askedText({ gpus: amount, pods, most, growth }: AskedGpus): string {
  const text = (of: number | null, count: number) =>
    `${of === null ? "unknown" : gpus(of)} GPUs in ${count} ${count === 1 ? "pod" : "pods"}`;
  if (growth !== null) return `${text(amount, pods)} more (it runs with ${growth.from} of ${growth.to} pods)`;
  return most === null ? text(amount, pods) : `at least ${text(amount, pods)} (at most ${text(most.gpus, most.pods)})`;
}

type AskedGpus = Pick<Entitlement["waiting"][number], "gpus" | "pods" | "most" | "growth">;

const neverTexts: ReadonlyMap<string, string> = new Map([
  ["paused", "paused by someone"],
  ["above-limit", "more than the queue may ever hold"],
  ["no-node", "no node can ever run it"],
  ["no-queue", "its queue does not take it"],
  ["limit-range", "a LimitRange of its namespace refuses its pods"],
  ["elsewhere", "it is for another cluster, which has not taken it yet"],
  ["no-scheduler", "the scheduler that its pods name is not here"],
  ["unschedulable", "what its pods ask for is not here"],
]);

/** What a gang waits for, for how long, and why. */
export function waitingText(gang: Entitlement["waiting"][number]): string {
  const { ageSeconds, cause, blockingLevel, never, reason } = gang;
  const level = blockingLevel === null ? "" : `: no single domain of ${plainText(blockingLevel, 80)} has enough`;
  const why = never === null ? `cause ${cause}${level}` : `never as things are: ${neverTexts.get(never) ?? never}`;
  const age = ageSeconds === null ? "since when is unknown" : `for ${duration(ageSeconds)}`;
  const isOwn = cause === "admission_check" || never === "limit-range";
  const said = reason === "" ? "" : `; ${isOwn ? "" : "the scheduler: "}${plainText(reason, 200)}`;
  return `${askedText(gang)}, ${age}, ${why}${said}; ${startSentence(gang.start)}`;
}

function waitingLines({ waiting, waitingGangs }: Entitlement): readonly Line[] {
  if (waitingGangs === 0) return ["  nothing waits"];
  const lines = waiting.flatMap((gang) => {
    const { namespace, kind, name } = gang;
    const head = `    ${plainText(kind, 30)} ${plainText(`${namespace}/${name}`, 80)}`;
    return fold(`${head}: ${waitingText(gang)}`, "      ");
  });
  const hidden = waitingGangs - waiting.length;
  return [
    `  waiting: ${waitingGangs}`,
    ...lines,
    ...(hidden > 0 ? [`    and ${hidden} more: /api/v1/pending lists all of them`] : []),
    `    ${startsExplained}`,
  ];
}
