import type { AdviceKind } from "../../../../exporter/model/recommendation.ts";
import type { Scenario } from "../../../../simulator/scenario.ts";
import { changeQuotaScenario } from "./changeQuota.ts";
import { defragmentScenario } from "./defragment.ts";
import { drainNodeScenario } from "./drainNode.ts";
import { fixSchedulerScenario } from "./fixScheduler.ts";
import { fixSourceScenario } from "./fixSource.ts";
import { reclaimScenario } from "./reclaim.ts";
import { releaseIdleScenario } from "./releaseIdle.ts";
import { rightSizeScenario } from "./rightSize.ts";
import { scaleInScenario } from "./scaleIn.ts";
import { shareGpuScenario } from "./shareGpu.ts";
import { unblockGangScenario } from "./unblockGang.ts";

/** A small cluster for each kind of advice, in which the problem arises by itself. */
export const adviceScenarios: Readonly<Record<AdviceKind, () => Scenario>> = {
  reclaim: reclaimScenario,
  defragment: defragmentScenario,
  release_idle: releaseIdleScenario,
  scale_in: scaleInScenario,
  change_quota: changeQuotaScenario,
  share_gpu: shareGpuScenario,
  right_size: rightSizeScenario,
  unblock_gang: unblockGangScenario,
  drain_node: drainNodeScenario,
  fix_scheduler: fixSchedulerScenario,
  fix_source: fixSourceScenario,
};
