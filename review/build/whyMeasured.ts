import type { AdviceLifecycle } from "../../exporter/accounts/ledger/queryAdvice.ts";
import type { AftermathOutcome } from "../../exporter/model/aftermath.ts";
import { gpuTolerance } from "../../exporter/model/gpuTolerance.ts";
import type { Undone } from "../../exporter/model/recommendation.ts";
import { duration } from "../../exporter/publish/terminal/columns.ts";

/** A measured gain that misses no more than this part of the predicted GPUs counts as predicted. */
const closeEnough = 0.05;

const notTaken: Readonly<Record<AftermathOutcome, string>> = {
  "came-back": "the work that it named worked again by itself",
  "evicted-again": "the pods that it named lost their place",
  ended: "the work that it named ended by itself",
  stayed: "what it named stayed as it was",
};

const ways: Readonly<Record<Undone["how"], string>> = {
  "came-back": "it came back",
  "evicted-again": "its pods were evicted again",
  "changed-back": "someone took the setting back",
};

/**
 * Says in a clause why the measured gain of closed advice differs from the predicted one. `null`: it is as predicted, or nobody
 * took the advice and nothing else is known.
 */
export function whyMeasured(lifecycle: AdviceLifecycle): string | null {
  const { state, closedAt, gainedGpusWorst, measuredGpus, detail } = lifecycle;
  if (detail === null) return "not known: another version wrote it";
  const { aftermath, undone, isMeasuredFinal } = detail;
  if (state !== "taken") return aftermath === null ? null : notTaken[aftermath.outcome];
  if (undone !== null) {
    const after = closedAt === null ? "" : ` after ${duration(Math.max(0, undone.at - closedAt))}`;
    return `${ways[undone.how]}${after} (${Number(undone.gpus.toFixed(1))} GPUs)`;
  }
  if (measuredGpus === null) return "nothing was measured yet";
  if (measuredGpus >= gainedGpusWorst * (1 - closeEnough) - gpuTolerance) return null;
  if (isMeasuredFinal !== true) return "it is still being measured";
  if (aftermath?.outcome === "ended") return "the work that it was for has ended";
  return "less was gained when it was measured; nothing undid it";
}
