import { z } from "zod";

/** The parts of the overview, in its order. */
export const sectionNames = [
  "heading",
  "teams",
  "short",
  "pools",
  "fits",
  "idle",
  "advice",
  "checks",
  "elsewhere",
  "deadlocks",
  "findings",
  "problems",
] as const;

/** The name of one part of the overview. */
export type SectionName = (typeof sectionNames)[number];

/** The overview of a moment as text, section by section. */
export const overviewSchema = z
  .object({
    at: z.iso.datetime().describe("The moment that the overview describes."),
    sections: z
      .array(
        z.object({
          name: z.enum(sectionNames),
          lines: z.array(z.string()).describe("Plain text for a terminal of so many columns; no section is empty."),
        }),
      )
      .describe("In the order in which they are read."),
  })
  .meta({ id: "Overview", description: "What `fairlead top` shows." });

/** The overview of a moment as text. */
export type OverviewText = z.infer<typeof overviewSchema>;

/** The least and the most columns for which the overview can be laid out, and the standard. */
export const overviewColumns = { min: 80, max: 200, standard: 100 } as const;
