/** Compute slices of one card by canonical model prefix (NVIDIA MIG user guide); every other MIG card has 7. */
const slicesPerCard: readonly (readonly [prefix: string, slices: number])[] = [
  ["A30", 4],
  ["RTX-PRO-6000", 4],
];

/** How many compute slices a whole card of this model has. */
export function computeSlicesPerCard(model: string): number {
  for (const [prefix, slices] of slicesPerCard) if (model.startsWith(prefix)) return slices;
  return 7;
}

/**
 * Compute slices of a MIG profile: `3g.20gb` -> 3, `1c.3g.40gb` -> 1, `1g.10gb.me` -> 1, `2g47gb` (DRA device names) -> 2.
 * `null` when the text is no profile.
 */
export function computeSlices(profile: string): number | null {
  const match = /^(?:([1-9])c\.)?([1-9])g\.?\d/.exec(profile);
  if (match === null) return null;
  return Number(match[1] ?? match[2]);
}

/** The part of a physical GPU that an instance of this profile is; `null` when the text is no profile. */
export function migWeight(profile: string, model: string): number | null {
  const slices = computeSlices(profile);
  return slices === null ? null : Math.min(1, slices / computeSlicesPerCard(model));
}

/** How many instances of this profile one card can have at most; `null` when the text is no profile. */
export function instancesPerCard(profile: string, model: string): number | null {
  const slices = computeSlices(profile);
  return slices === null ? null : Math.max(1, Math.floor(computeSlicesPerCard(model) / slices));
}

/** The profile in a resource name: `nvidia.com/mig-1g.10gb` and `nvidia.com/mig-1g.10gb.shared` -> `1g.10gb`; else `null`. */
export function migProfileOfResource(resource: string): string | null {
  const match = /^nvidia\.com\/mig-(.+?)(?:\.shared)?$/.exec(resource);
  return match?.[1] ?? null;
}

/** Whether two spellings name the same profile: punctuation differs between DCGM, resource names and DRA. */
export function sameProfile(a: string, b: string): boolean {
  return plain(a) === plain(b);
}

function plain(profile: string): string {
  return profile.toLowerCase().replace(/[^a-z0-9]/g, "");
}
