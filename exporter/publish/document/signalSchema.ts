import { z } from "zod";
import { stallUnknownReasons, telemetrySignals } from "../../model/telemetrySignals.ts";
import { gpus, ratio } from "./schemaParts.ts";

/** How hard GPUs work, by signals that only computing moves. */
export const work = {
  tensorActive: ratio.describe("How busy tensor cores are; null where nothing reports it."),
  dramActive: ratio.describe(
    "Part of the time in which device memory is read or written; null where nothing reports it.",
  ),
  power: ratio.describe("Power over what the GPUs may draw; null where power or full power is not known."),
} as const;

/** The signals of a pool. */
export const signals = z
  .strictObject({
    reported: z
      .partialRecord(z.enum(telemetrySignals), gpus)
      .describe("Physical GPUs whose telemetry reports the signal; one that is not there is reported by none."),
    ...work,
    stallUnknown: z
      .partialRecord(z.enum(stallUnknownReasons), gpus)
      .describe("Allocated GPUs for which nothing shows whether they are stalled, by the first thing that is missing."),
  })
  .describe("What telemetry says beside activity. The ratios are of GPUs that one pod holds alone.");
