import { z } from "zod";
import { amount, costs, name } from "./parts.ts";

/** What a workload that serves did in the window, and the GPU time that it took while its requests were counted. */
export const servedSchema = z.object({
  cluster: name,
  kind: name,
  namespace: name,
  name,
  team: name,
  requests: amount.describe("Requests that have ended."),
  promptTokens: amount.nullable().describe("null: a server of it does not count them, or did not all the time."),
  generatedTokens: amount.nullable(),
  gpuHours: amount,
  costs,
  tokensPerGpuHour: amount.nullable().describe("Generated tokens; null where they are not known."),
  costPerMillionTokens: costs.describe(
    "Of generated tokens; empty where they are not known or none, and where a part of its GPU time has no price.",
  ),
});

export type Served = z.infer<typeof servedSchema>;
