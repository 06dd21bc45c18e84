import type { WithheldAdvice } from "../../model/recommendation.ts";
import type { MomentIndex } from "../momentIndex.ts";
import type { LivingOffer } from "./livingAdvice.ts";

/** The withheld advice of the moment that is about the same need; `null` if there is none. */
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

/** The name in a target: `ads/train` for `Job ads/train`. */
const nameIn = (target: string): string => target.slice(target.indexOf(" ") + 1);

const mostNamed = 5;

/** The state of a target that explains why no action is needed; `null` if nothing explains it. */
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

/** Why advice was not found again, as far as the moment shows it. */
export function whyGone(living: LivingOffer, withheld: readonly WithheldAdvice[], moment: MomentIndex): string {
  const known = withheldOf(living, withheld);
  if (known !== null) return known.reason;
  const { snapshot } = moment.analysis;
  if (!snapshot.coverage.objects) return "the objects of the cluster could not be read";
  const { beneficiary } = living.offer.draft;
  const isWaiting = snapshot.queueing.gangs.some(({ namespace, name }) => `${namespace}/${name}` === beneficiary.name);
  if (beneficiary.kind === "workload" && !isWaiting) return `${beneficiary.name} does not wait any more`;
  // For advice that serves a queue, the targets give something away: they are not what the queue needs.
  const own = beneficiary.kind === "queue" ? [] : living.offer.draft.targets;
  const changed = own.flatMap((target) => nowOf(target, moment) ?? []);
  if (changed.length > 0) return changed.slice(0, mostNamed).join("; ");
  return `nothing of the kind was found for ${beneficiary.kind} ${beneficiary.name} any more`;
}

/** The most characters of a name or reason: people type them, and longer ones are cut. */
const longestText = 500;

/** Why advice was closed as dismissed: who did not want it, and the reason. */
export const dismissedBecause = (by: string, reason: string): string =>
  `${by.slice(0, longestText)}: ${reason.slice(0, longestText)}`;

/** Why advice was closed as taken: the report of a person, until the cluster shows it. */
export const takenBecause = (by: string): string => `${by.slice(0, longestText)} says that it is done`;
