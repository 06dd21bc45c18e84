import type { GuardQuestion } from "../../../exporter/advice/guards/guards.ts";
import type { PodView, Snapshot } from "../../../exporter/join/snapshot.ts";
import type { PodDisruptionBudget } from "../../../exporter/model/cluster.ts";

/** The rules of advice once more, word by word and without any index: what a question breaks, in words. */
export function brokenRules(snapshot: Snapshot, question: GuardQuestion): readonly string[] {
  const asked = [...new Set(question.pods)];
  return asked.flatMap((index) => {
    const pod = snapshot.pods[index];
    if (pod === undefined) return ["no pod"];
    return [
      ...brokenByPod(snapshot, index, pod),
      ...((question.by ?? "eviction") === "eviction" ? brokenByEviction(snapshot, pod, asked) : []),
      ...brokenGang(snapshot, pod, asked),
      ...brokenPriority(snapshot, index, pod, question),
    ];
  });
}

function brokenByPod(snapshot: Snapshot, index: number, pod: PodView): readonly string[] {
  const broken: string[] = [];
  if (pod.uid === null || pod.node === null || pod.status !== "allocated" || pod.gpus === null)
    broken.push("unknown pod");
  if (!snapshot.nodes.some(({ name }) => name === pod.node)) broken.push("unknown node");
  const holdings = snapshot.devices.flatMap((device) => device.holders).filter((holder) => holder.pod === index);
  if (holdings.some(({ estimated }) => estimated)) broken.push("estimated");
  if (pod.owner === null || pod.owner.kind === "DaemonSet") broken.push("owner");
  if (pod.disruption.isStatic) broken.push("static");
  if (pod.disruption.forbiddenBy !== null) broken.push("forbidden");
  if (pod.disruption.hasLocalStorage) broken.push("local storage");
  return broken;
}

function brokenGang({ pods }: Snapshot, { gang }: PodView, asked: readonly number[]): readonly string[] {
  const members = pods.flatMap((one, i) =>
    one.gang !== null && one.gang.id === gang?.id && one.status === "allocated" ? [i] : [],
  );
  return members.every((member) => asked.includes(member)) ? [] : ["half a gang"];
}

function brokenPriority(snapshot: Snapshot, index: number, pod: PodView, question: GuardQuestion): readonly string[] {
  const { how, beneficiary } = question;
  if (how === "move") return beneficiary !== null && pod.priority > beneficiary.priority ? ["priority"] : [];
  return how === "lose" && !mayLose(snapshot, index, pod, question) ? ["loss"] : [];
}

function brokenByEviction(snapshot: Snapshot, pod: PodView, asked: readonly number[]): readonly string[] {
  const broken: string[] = [];
  const budgets = snapshot.podDisruptionBudgets;
  if (budgets === null) return ["budgets unknown"];
  const own = budgets.filter((budget) => covers(budget, pod));
  if (own.length > 1) broken.push("two budgets");
  for (const budget of own) {
    const count = asked.filter((index) => {
      const other = snapshot.pods[index];
      return other !== undefined && covers(budget, other);
    }).length;
    if (budget.disruptionsAllowed === null || count > budget.disruptionsAllowed) broken.push("budget");
  }
  if (pod.owner?.kind === "Job") {
    const job = snapshot.workloads[pod.workload]?.job ?? null;
    const lost = asked.filter((index) => snapshot.pods[index]?.workload === pod.workload).length;
    if (job === null || job.onDisruption === "FailJob" || job.onDisruption === "FailIndex") broken.push("job");
    else if (job.onDisruption === "Count" && (job.backoffLimit === null || job.failed + lost > job.backoffLimit))
      broken.push("backoff limit");
  }
  return broken;
}

function covers(budget: PodDisruptionBudget, pod: PodView): boolean {
  return (
    budget.namespace === pod.namespace &&
    Object.entries(budget.matchLabels).every(([key, value]) => pod.labels[key] === value)
  );
}

/** Lower priority, or what a queue borrows of one that is below its guarantee, by the scheduler's own policy. */
function mayLose(snapshot: Snapshot, index: number, pod: PodView, { beneficiary }: GuardQuestion): boolean {
  if (beneficiary === null) return false;
  if (pod.priority < beneficiary.priority) return true;
  const { queues, queueOfPod } = snapshot.queueing;
  const borrower = queues[queueOfPod[index] ?? -1];
  const starved = queues[beneficiary.queue ?? -1];
  if (borrower === undefined || starved === undefined || borrower === starved) return false;
  if (borrower.allocated <= borrower.guaranteed || starved.allocated >= starved.guaranteed) return false;
  const policy = snapshot.queueObjects.kueueClusterQueues.find(({ name }) => name === starved.name)?.preemption;
  return policy?.reclaimWithinCohort === "Any";
}
