import { causeNames } from "../../exporter/model/causeNames.ts";
import type { AdviceState } from "../../exporter/model/recommendation.ts";
import { plainText } from "../../exporter/publish/terminal/columns.ts";
import { priceSourceNames } from "../../exporter/publish/terminal/costText.ts";

/** The longest name that is shown, in UTF-16 code units; names themselves may be of any length. */
const longestName = 120;

/** A name from a cluster, on one line and cut to a bounded length. */
export const nameText = (name: string): string => plainText(name, longestName);

/** The name of a team; work that no rule assigns to a team has none. */
export const teamText = (team: string): string => (team === "" ? "no team" : nameText(team));

/** A longer text from a cluster or a file, on one line and cut to a bounded length. */
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

/** Says why some time is not covered. */
export const gapText = (reason: string): string => knownText(gapReasons, reason);

/** Says where a price comes from. */
export const priceSourceText = (source: string): string => knownText(priceSourceNames, source);

/**
 * The words for a name; the name itself if this version does not know it, because files of other versions may have other names.
 */
const knownText = (words: Readonly<Record<string, string>>, name: string): string =>
  (Object.hasOwn(words, name) ? words[name] : undefined) ?? nameText(name);

/** The states of advice in words. */
export const actionStates: Readonly<Record<AdviceState, string>> = {
  open: "open",
  taken: "taken",
  expired: "not taken: its reason passed",
  dismissed: "dismissed",
};

/** The size of work in words, by the physical GPUs that it asks for: `8 GPUs`, `2-7 GPUs`, `size unknown`. */
export function sizeText(sizeClass: string | null): string {
  if (sizeClass === null) return "any size";
  if (sizeClass === "unknown") return "size unknown";
  const shown = nameText(sizeClass);
  return `${shown} GPU${sizeClass === "1" || sizeClass === "<1" ? "" : "s"}`;
}
