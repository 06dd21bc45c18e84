import { watchedKinds } from "../../exporter/sources/kubernetes/kinds.ts";
import { ownerKinds } from "../../exporter/sources/kubernetes/ownerKinds.ts";
import { type OptionalRight, resourceName } from "../../exporter/sources/kubernetes/rights.ts";

/** A part of the role that is taken away, and what Fairlead must say then. */
export interface Removal {
  /** For the name of the test. */
  readonly what: string;
  readonly verbs: readonly string[];
  /** What cannot be read then. */
  readonly resources: readonly { readonly group: string; readonly resource: string }[];
  readonly code: "forbidden" | "owners-forbidden";
  /** Verbs as problems name them. */
  readonly reported: string;
  readonly right: OptionalRight | null;
}

interface Read {
  readonly group: string;
  readonly resource: string;
  readonly right: OptionalRight | null;
}

const watched = { verbs: ["list", "watch"], code: "forbidden", reported: "list and watch" } as const;
const owned = { verbs: ["get"], code: "owners-forbidden", reported: "get" } as const;

/** Every optional API group, and each required resource on its own. */
export const removals: readonly Removal[] = [
  ...removalsOf(Object.values(watchedKinds), watched),
  ...removalsOf(Object.values(ownerKinds).flat(), owned),
];

function removalsOf(reads: readonly Read[], how: typeof watched | typeof owned): readonly Removal[] {
  const parts = Map.groupBy(reads, ({ group, resource, right }) =>
    right === null ? resourceName(group, resource) : `${right}: ${group}`,
  );
  return [...parts].map(([part, members]) => ({
    ...how,
    what: `${how.reported} on ${part}`,
    resources: members,
    right: members[0]?.right ?? null,
  }));
}
