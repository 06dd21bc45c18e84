import { z } from "zod";

const perLevel = z.object({
  universal: z.string().optional(),
  individual: z
    .object({ prefix: z.string().default(""), suffix: z.string().default(""), roots: z.array(z.string()) })
    .optional(),
});
const slice = z.object({
  domainCount: z.number(),
  valuesPerLevel: z.array(perLevel),
  podCounts: z.object({ universal: z.number().optional(), individual: z.array(z.number()).optional() }),
});

/**
 * Where Kueue (v1beta2) places the pods of a podSet: for each domain of the lowest level the values of the levels that are
 * named, and how many pods. Kueue writes runs of domains as a common prefix and suffix with what is between them.
 */
export const topologyAssignment = z
  .looseObject({ levels: z.array(z.string()), slices: z.array(slice) })
  .transform(({ slices }) =>
    slices.flatMap(({ domainCount, valuesPerLevel, podCounts }) =>
      Array.from({ length: domainCount }, (_, domain) => ({
        values: valuesPerLevel.map(({ universal, individual }) =>
          individual === undefined
            ? (universal ?? "")
            : `${individual.prefix}${individual.roots[domain] ?? ""}${individual.suffix}`,
        ),
        pods: podCounts.universal ?? podCounts.individual?.[domain] ?? 0,
      })),
    ),
  );

/** Domains of the lowest level with their pods. */
export type TopologyAssignment = z.output<typeof topologyAssignment>;
