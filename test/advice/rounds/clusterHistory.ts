import fc from "fast-check";
import type { AdviceMoment } from "../../../exporter/advice/moment.ts";
import { budget } from "../guards/guardMoment.ts";
import { anyKueueCase } from "../kinds/generatedQueues.ts";
import { type KueueCase, kueueMoment } from "../kinds/kueueCluster.ts";

/** A cluster in one cycle. */
export type Cycle = KueueCase;

/** What happens between two cycles; numbers choose among what is there. */
type Change =
  | { readonly kind: "nothing" }
  | { readonly kind: "job-ends" | "job-moves" | "work-goes" | "node-relabelled" | "node-goes"; readonly which: number }
  | { readonly kind: "priority"; readonly which: number; readonly priority: number }
  | { readonly kind: "work-comes"; readonly which: number; readonly gpus: number }
  | { readonly kind: "quota"; readonly which: number; readonly nominal: number }
  | { readonly kind: "budget"; readonly allowed: number };

const anyChange: fc.Arbitrary<Change> = fc.oneof(
  { weight: 4, arbitrary: fc.constant({ kind: "nothing" } as const) },
  fc.record({
    kind: fc.constantFrom("job-ends", "job-moves", "work-goes", "node-relabelled", "node-goes"),
    which: fc.nat(20),
  }),
  fc.record({ kind: fc.constant("priority" as const), which: fc.nat(20), priority: fc.constantFrom(0, 5, 50) }),
  fc.record({ kind: fc.constant("work-comes" as const), which: fc.nat(20), gpus: fc.constantFrom(1, 4, 8) }),
  fc.record({ kind: fc.constant("quota" as const), which: fc.nat(20), nominal: fc.nat(16) }),
  fc.record({ kind: fc.constant("budget" as const), allowed: fc.nat(1) }),
);

/** Histories of a cluster of Kueue: pods, nodes, queues, priorities, labels and budgets come, go and change. */
export const historyOf = (cycles: number): fc.Arbitrary<readonly Cycle[]> =>
  fc
    .tuple(anyKueueCase, fc.array(anyChange, { minLength: cycles - 1, maxLength: cycles - 1 }))
    .map(([first, changes]) => {
      const history: Cycle[] = [first];
      for (const change of changes) history.push(changed(history.at(-1) ?? first, change));
      return history;
    });

/** The moment of a cycle, 30 s after the one before. */
export function momentAt(cycle: Cycle, place: number): AdviceMoment {
  const moment = kueueMoment(cycle);
  const { snapshot } = moment.analysis;
  return { ...moment, analysis: { ...moment.analysis, snapshot: { ...snapshot, at: snapshot.at + 30 * place } } };
}

function changed(cycle: Cycle, change: Change): Cycle {
  const { running = [], waiting = [], queues, nodes, labels = {} } = cycle;
  const at = <Item>(list: readonly Item[], which: number): Item | undefined => list[which % Math.max(1, list.length)];
  switch (change.kind) {
    case "nothing":
      return cycle;
    case "job-ends": {
      const gone = at(running, change.which);
      return { ...cycle, running: running.filter((one) => one !== gone) };
    }
    case "job-moves": {
      // It is evicted and starts again: other pods on the same nodes.
      const moved = at(running, change.which);
      return { ...cycle, running: running.map((one) => (one === moved ? { ...one, name: `${one.name}x` } : one)) };
    }
    case "work-goes": {
      const gone = at(waiting, change.which);
      return { ...cycle, waiting: waiting.filter((one) => one !== gone) };
    }
    case "work-comes": {
      const queue = at(queues, change.which)?.name ?? "ads";
      const name = `late${waiting.length}-${change.which}`;
      return { ...cycle, waiting: [...waiting, { name, queue, pods: 1, gpusPerPod: change.gpus }] };
    }
    case "priority": {
      const own = at(running, change.which);
      const { priority } = change;
      return { ...cycle, running: running.map((one) => (one === own ? { ...one, priority } : one)) };
    }
    case "quota": {
      const own = at(queues, change.which);
      const { nominal } = change;
      return { ...cycle, queues: queues.map((one) => (one === own ? { ...one, nominal } : one)) };
    }
    case "node-relabelled": {
      const name = at(Object.keys(nodes), change.which) ?? "";
      return { ...cycle, labels: { ...labels, [name]: { zone: `z${change.which}` } } };
    }
    case "node-goes": {
      const name = at(Object.keys(nodes), change.which) ?? "";
      return {
        ...cycle,
        nodes: Object.fromEntries(Object.entries(nodes).filter(([one]) => one !== name)),
        running: running.filter((one) => !one.nodes.includes(name)),
      };
    }
    case "budget":
      return {
        ...cycle,
        podDisruptionBudgets: ["ads", "news"].map((namespace) => budget(change.allowed, { namespace })),
      };
  }
}
