import { bareRecord } from "../../../kernel/bareRecord.ts";
import type { ResourceAmounts } from "../../../model/node.ts";
import type { PodNeeds } from "../../../model/queues/podNeeds.ts";
import type { Place } from "../fields.ts";
import { requiredAffinity, tolerations } from "../nodeRules.ts";
import { podResources } from "../podResources.ts";
import { textMap, wholeLabels } from "../textMap.ts";

/** What the spec of a pod template asks of a node. */
export function podNeeds(spec: Place, configuredGpus: ReadonlySet<string>): PodNeeds {
  return {
    requests: requests(spec, configuredGpus),
    nodeSelector: textMap(spec, "nodeSelector", wholeLabels),
    nodeAffinity: requiredAffinity(spec),
    tolerations: tolerations(spec),
  };
}

function requests(spec: Place, configuredGpus: ReadonlySet<string>): ResourceAmounts {
  const { cpuMilli, memoryBytes, gpus } = podResources(spec, configuredGpus);
  const amounts = bareRecord<number>();
  if (cpuMilli > 0) amounts.cpu = cpuMilli / 1000;
  if (memoryBytes > 0) amounts.memory = memoryBytes;
  return Object.assign(amounts, gpus);
}
