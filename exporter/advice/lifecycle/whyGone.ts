import type { WithheldAdvice } from "../../model/recommendation.ts";
import type { MomentIndex } from "../momentIndex.ts";
import type { LivingOffer } from "./livingAdvice.ts";

/** What was withheld of this very need in the moment, if anything was. */
export function withheldOf(
  { offer: { draft } }: Pick<LivingOffer, "offer">,
  withheld: readonly WithheldAdvice[],
): WithheldAdvice | null {
  const own = withheld.find(({ id }) => id === draft.id);
  if (own !== undefined) return own;
  const names = new Set([draft.beneficiary.name, ...draft.targets.flatMap((target) => [target, nameIn(target)])]);
  const isAbout = ({ kind, why, subject, id }: WithheldAdvice): boolean =>
    kind === draft.kind && (id ?? null) === null && (why === "disabled" || names.has(subject));
  return withheld.find(isAbout) ?? null;
}

/** `ads/train` of `Job ads/train`. */
const nameIn = (target: string): string => target.slice(target.indexOf(" ") + 1);

const mostNamed = 5;

/** What a target is now that it need not be acted upon; `null` where nothing is known of it. */
function nowOf(target: string, moment: MomentIndex): string | null {
  const name = nameIn(target);
  if (target.startsWith("Node ")) {
    const node = moment.node(name);
    if (node === undefined) return `${target} is not there any more`;
    return node.allocatedByPods > 0 ? `GPUs of ${target} are allocated again` : null;
  }
  const kind = target.slice(0, target.indexOf(" "));
  if (!name.includes("/") || kind === "Pod") return null;
  return moment.workloads(`${kind}/${name}`).length === 0 ? `${target} is not there any more` : null;
}

/** Why advice was not found again, as the moment says it. */
export function whyGone(living: LivingOffer, withheld: readonly WithheldAdvice[], moment: MomentIndex): string {
  const known = withheldOf(living, withheld);
  if (known !== null) return known.reason;
  const { snapshot } = moment.analysis;
  if (!snapshot.coverage.objects) return "the objects of the cluster could not be read";
  const { beneficiary } = living.offer.draft;
  const isWaiting = snapshot.queueing.gangs.some(({ namespace, name }) => `${namespace}/${name}` === beneficiary.name);
  if (beneficiary.kind === "workload" && !isWaiting) return `${beneficiary.name} does not wait any more`;
  // Whoever is to give something to a queue is not what it needs.
  const own = beneficiary.kind === "queue" ? [] : living.offer.draft.targets;
  const changed = own.flatMap((target) => nowOf(target, moment) ?? []);
  if (changed.length > 0) return changed.slice(0, mostNamed).join("; ");
  return `nothing of the kind was found for ${beneficiary.kind} ${beneficiary.name} any more`;
}

/** Names and reasons are text that someone typed: what is longer is cut, characters. */
const longestText = 500;

/** Why advice was closed that someone does not want. */
export const dismissedBecause = (by: string, reason: string): string =>
  `${by.slice(0, longestText)}: ${reason.slice(0, longestText)}`;

/** Why advice was closed that someone says was carried out: so long as the cluster does not show it, it is that person's word. */
export const takenBecause = (by: string): string => `${by.slice(0, longestText)} says that it is done`;
