import { z } from "zod";

const resourceName = z.string().min(1).max(317);

/** The settings of GPUs and their activity: `gpu` in the configuration. */
export const gpuSchema = z.strictObject({
  signal: z
    .enum(["auto", "sm_active", "gr_engine_active", "gpu_util"])
    .default("auto")
    .describe("The activity signal. `auto` takes the best one that at least 95 % of the devices have."),
  resources: z
    .record(resourceName, z.number().min(0).max(1))
    .default({})
    .describe(
      "Renamed GPU resources: how much of a physical GPU one unit is (`acme.com/half-gpu: 0.5`). 0 means that it is no GPU, whatever its name says.",
    ),
  replicas: z
    .record(resourceName, z.number().int().min(1).max(1024))
    .default({})
    .describe("Replicas per GPU of a shared resource, where the node's labels do not say."),
  pools: z
    .record(z.string(), z.string().min(1))
    .default({})
    .describe("Pool by canonical GPU model. Default: the pool is the model."),
  power: z
    .record(
      z.string(),
      z
        .strictObject({
          idleWatts: z.number().min(0).max(10_000).describe("What a GPU draws without a process."),
          fullWatts: z.number().min(1).max(10_000).describe("What it may draw at most."),
        })
        .refine(({ idleWatts, fullWatts }) => idleWatts < fullWatts, "must have idleWatts below fullWatts"),
    )
    .default({})
    .describe(
      "Idle and full power by canonical GPU model, for `stalled` GPUs. They have priority over Fairlead's own table (docs/telemetry.md).",
    ),
});
