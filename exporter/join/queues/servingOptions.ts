import type { classFinder, ServingDomain } from "./classFinder.ts";
import type { PartDraft } from "./gangDraft.ts";
import type { PlaceMemory } from "./placeMemory.ts";

/** Finds the options of a part, once for all parts with the same objects. */
export function optionFinder(
  servingOf: ReturnType<typeof classFinder>,
  { options: found }: Pick<PlaceMemory, "options">,
): (part: PartDraft, scheduler: string) => readonly ServingDomain[] {
  return (part, scheduler) => {
    const alike = found.get(part.needs) ?? [];
    if (alike.length === 0) found.set(part.needs, alike);
    const known = alike.find((one) => one.scheduler === scheduler && isAlike(one.part, part));
    if (known !== undefined) return known.options;
    const { needs, scopes, gpusPerPod } = part;
    const options = servingOf({ scheduler, needs, scopes, gpusPerPod });
    // Anybody who can create workloads can write many that differ only in their flavors.
    if (alike.length < mostAlike) alike.push({ part, scheduler, options });
    return options;
  };
}

const mostAlike = 20;

/** The options of parts that are alike. */
export interface KnownOptions {
  readonly part: PartDraft;
  readonly scheduler: string;
  readonly options: readonly ServingDomain[];
}

function isAlike({ scopes: one, gpusPerPod }: PartDraft, { scopes: other, gpusPerPod: gpus }: PartDraft): boolean {
  if (gpusPerPod !== gpus) return false;
  if (one === other) return true;
  return one !== null && other !== null && one.length === other.length && one.every((name, i) => name === other[i]);
}
