import { z } from "zod";
import { name } from "./parts.ts";

/** The numbers on top of the page. */
export const tileIds = ["capacity", "allocated", "active", "effective", "cost"] as const;

/** One of the numbers on top of the page. */
export const tileSchema = z.object({
  id: z.enum(tileIds),
  title: z.string().max(100),
  unit: z.string().max(20).describe("`GPU-h`, `ratio`, or a currency."),
  value: z.number().nullable(),
  before: z
    .array(z.object({ label: z.string().max(100), value: z.number().nullable() }))
    .describe("The oldest first; null where it is not known, of several clusters where one of them does not know it."),
  change: z
    .number()
    .nullable()
    .describe(
      "Against the mean of the periods before: of ratios in points (0.03: 3 points), of amounts per covered hour and relative (0.03: 3 % more).",
    ),
  note: z.string().max(300).describe("What else belongs to it: the part of the cost that was allocated to nobody."),
  owner: z.string().max(100).describe("Who can act on a change."),
});

/** The numbers under the names that capacity planners know; GPUs are means over the covered time. */
export const termsSchema = z.object({
  totalGpus: z.number().nullable(),
  effectiveGpus: z.number().nullable().describe("Active."),
  wastedGpus: z.number().nullable().describe("Allocated less active."),
  utilization: z.number().nullable().describe("Active / (allocated and observed)."),
  schedulingEfficiency: z
    .number()
    .nullable()
    .describe("Allocated / min(usable, allocated + pending): 1 when nothing waits that could run; null of one team."),
});

/** Something that a reader should know before trusting a number. */
export const noteSchema = z.object({ cluster: name.nullable(), text: z.string().max(1000) });

export type TileId = (typeof tileIds)[number];
export type Tile = z.infer<typeof tileSchema>;
export type Terms = z.infer<typeof termsSchema>;
export type Note = z.infer<typeof noteSchema>;
