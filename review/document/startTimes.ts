import { z } from "zod";
import { amount, name } from "./parts.ts";

/** How often the times that were given for waiting work of one queue and size have held. */
export const heldStartsSchema = z.object({
  cluster: name,
  queue: name,
  sizeClass: name,
  starts: amount.describe("Starts in the window of work that had waited for half a minute and more."),
  intervals: amount.describe("Those for which a time was known by then."),
  hits: amount.describe("Those of `intervals` that started between p10 and p90."),
});

export type HeldStarts = z.infer<typeof heldStartsSchema>;
