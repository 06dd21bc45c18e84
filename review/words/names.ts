import { causeNames } from "../../exporter/model/causeNames.ts";
import type { AdviceState } from "../../exporter/model/recommendation.ts";
import { plainText } from "../../exporter/publish/terminal/columns.ts";
import { priceSourceNames } from "../../exporter/publish/terminal/costText.ts";

/** Names have no end that a page could rely on. */
const longestName = 120;

/** A name from a cluster, on one line and bounded. */
export const nameText = (name: string): string => plainText(name, longestName);

/** A team; what no rule gave to one has no name. */
export const teamText = (team: string): string => (team === "" ? "no team" : nameText(team));

/** A longer text from a cluster or a file. */
export const longText = (text: string): string => plainText(text, 1000);

const nodeStates: Readonly<Record<string, string>> = {
  idle_unallocated: "idle, nothing on it",
  idle_allocated: "idle, allocated",
  cordoned: "cordoned",
  not_ready: "not ready",
  warm_unallocated: "warm, kept ready on purpose",
  warm_allocated: "warm, allocated",
};

/** A state of idle node time in words. */
export const nodeStateText = (state: string): string => knownText(nodeStates, state);

/** A cause of lost or slow GPU time in words. */
export const causeText = (cause: string): string => knownText(causeNames, cause);

const gapReasons: Readonly<Record<string, string>> = {
  "too-long": "Fairlead did not run, or was too slow",
  "clock-jump": "the clock jumped",
  "stale-objects": "what the Kubernetes API said was too old",
  "not-written": "the ledger could not be written",
};

/** Why some time is not covered. */
export const gapText = (reason: string): string => knownText(gapReasons, reason);

/** Where a price comes from. */
export const priceSourceText = (source: string): string => knownText(priceSourceNames, source);

/** The words for a name that this version knows; another version's file may have others. */
const knownText = (words: Readonly<Record<string, string>>, name: string): string =>
  (Object.hasOwn(words, name) ? words[name] : undefined) ?? nameText(name);

/** What became of advice. */
export const actionStates: Readonly<Record<AdviceState, string>> = {
  open: "open",
  taken: "taken",
  expired: "not taken: its reason passed",
  dismissed: "dismissed",
};

/** Work by the physical GPUs that it asks for: `8 GPUs`, `2-7 GPUs`, `size unknown`. */
export function sizeText(sizeClass: string | null): string {
  if (sizeClass === null) return "any size";
  if (sizeClass === "unknown") return "size unknown";
  const shown = nameText(sizeClass);
  return `${shown} GPU${sizeClass === "1" || sizeClass === "<1" ? "" : "s"}`;
}
