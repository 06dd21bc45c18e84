import type { Device, NodeView } from "../snapshot.ts";
import {
  type DomainShape,
  type DomainShapeCache,
  type DomainShapes,
  domainShapes,
  type ScopedSystem,
} from "./domainShapes.ts";
import { nodeCapacities } from "./nodeCapacity.ts";
import type { QuotaDomain } from "./queueing.ts";
import type { PoolFacts } from "./queueSystem.ts";

/** A domain without the declarations of its queues. */
export type BareDomain = Omit<DomainShape, "classes"> &
  Omit<QuotaDomain, "unknownBecause" | "nodes" | "classes"> &
  Required<Pick<QuotaDomain, "classes">> & {
    /** Physical GPUs of the domain, and of the largest node of each class. */
    readonly physical: number;
    readonly largestNodes: readonly number[];
  };

/** The quota domains of a cluster. */
export interface QuotaDomains extends Pick<DomainShapes, "placeOf"> {
  readonly domains: readonly BareDomain[];
}

/** The domains of a cluster, with what their nodes have. */
export function quotaDomains(
  pools: readonly PoolFacts[],
  nodes: readonly NodeView[],
  devices: readonly Device[],
  systems: readonly ScopedSystem[],
  cache: DomainShapeCache = { last: null },
): QuotaDomains {
  const { shapes, placeOf } = domainShapes(pools, systems, cache);
  const counts = countCapacities(nodes, devices, placeOf);
  return { domains: shapes.map((shape, i) => domainOf(shape, counts[i] ?? new Map())), placeOf };
}

interface ClassCount {
  capacity: number;
  allocatedOnUnschedulable: number;
  outOfService: number;
  physical: number;
  largestNode: number;
}

/** The capacity of each domain, and in it of each class. */
function countCapacities(
  nodes: readonly NodeView[],
  devices: readonly Device[],
  placeOf: QuotaDomains["placeOf"],
): readonly ReadonlyMap<number, ClassCount>[] {
  const counts: Map<number, ClassCount>[] = [];
  for (const node of nodes) {
    for (const part of nodeCapacities(node, devices)) {
      const place = placeOf(part.pool, node.name);
      if (place === null) continue;
      const classes = counts[place.domain] ?? new Map<number, ClassCount>();
      counts[place.domain] = classes;
      const own = classes.get(place.nodeClass) ?? {
        capacity: 0,
        allocatedOnUnschedulable: 0,
        outOfService: 0,
        physical: 0,
        largestNode: 0,
      };
      classes.set(place.nodeClass, own);
      own.capacity += part.capacity;
      own.allocatedOnUnschedulable += part.allocatedOnUnschedulable;
      own.outOfService += part.outOfService;
      own.physical += part.physical;
      own.largestNode = Math.max(own.largestNode, part.physical);
    }
  }
  return counts;
}

function domainOf(shape: DomainShape, counts: ReadonlyMap<number, ClassCount>): BareDomain {
  const sum = (of: (count: ClassCount) => number) => [...counts.values()].reduce((total, one) => total + of(one), 0);
  return {
    ...shape,
    classes: shape.classes.map((one, i) => ({ ...one, capacity: counts.get(i)?.capacity ?? 0 })),
    largestNodes: shape.classes.map((_, i) => counts.get(i)?.largestNode ?? 0),
    physical: sum(({ physical }) => physical),
    capacity: sum(({ capacity, allocatedOnUnschedulable }) => capacity + allocatedOnUnschedulable),
    allocatedOnUnschedulable: sum(({ allocatedOnUnschedulable }) => allocatedOnUnschedulable),
    outOfService: sum(({ outOfService }) => outOfService),
  };
}
