import { z } from "zod";
import { amount, name, ratio } from "./parts.ts";

/**
 * Which gangs would have fitted into the free GPUs of a pool, each within one domain of a level of the topology, such as a rack.
 */
export const fittedGangsSchema = z.object({
  cluster: name,
  pool: name,
  level: name,
  hours: amount.describe("Covered time in which the pool had nodes in a domain of the level."),
  largestGpus: amount.describe("GPUs of the largest gang of `gangs` that fitted at any moment; 0: none did."),
  halfOfTimeGpus: amount.describe("The same for at least half of `hours`."),
  gangs: z
    .array(z.object({ gpus: amount, ratio: ratio.describe("The part of `hours` in which at least one fitted.") }))
    .describe("The smallest first."),
});

export type FittedGangs = z.infer<typeof fittedGangsSchema>;
