import type { Analysis } from "../../../exporter/analysis/analysis.ts";
import type { Truth } from "../../../simulator/truth.ts";
import type { MixedCluster } from "../../simulator/scenarios/activity/mixedCluster.ts";
import type { PlannedFault } from "../../simulator/scenarios/activity/nodeFaults.ts";

/** A fault, and what it was called. */
export interface FaultOutcome {
  readonly fault: string;
  /** The cause that it has; `null`: no time is lost by it. */
  readonly cause: string | null;
  /** It lasted for long enough, and where it slows a GPU down, work was there to be slowed. */
  readonly isTrue: boolean;
  readonly isShown: boolean;
  /** Seconds from its begin until its cause was named; `null`: never. */
  readonly calledAfter: number | null;
  /** Its time was lost without a name. */
  readonly isUnnamed: boolean;
  /** Another cause was named on its node. */
  readonly isFalseAlarm: boolean;
}

/** Faults that last longer than this should be named, seconds: a node is not ready for five minutes before it counts. */
const patience = 600;
/** How late a fault, and its end, may be seen, seconds. */
const slack = 120;
/** Causes that only say that a GPU is not there. */
const unnamed: ReadonlySet<string> = new Set(["unknown", "pod_status", "taint", "driver"]);

/** What was seen of a fault so far. */
interface Note {
  /** For how long it lasted with work to be slowed, seconds. */
  working: number;
  calledAfter: number | null;
  isUnnamed: boolean;
  isFalseAlarm: boolean;
}

const unseen = (): Note => ({ working: 0, calledAfter: null, isUnnamed: false, isFalseAlarm: false });

export interface HealthWatch {
  look(truth: Truth, analysis: Analysis, seconds: number): void;
  /** One for each fault; and nodes without a fault on which a cause was named. */
  outcomes(): {
    readonly faults: readonly FaultOutcome[];
    readonly wellNodesCalled: number;
    readonly wellNodes: number;
  };
}

/** Watches which causes are named on each node; `step`: seconds between two looks. */
export function createHealthWatch({ scenario, faults, pages }: MixedCluster, step: number): HealthWatch {
  const notes = new Map(faults.map((fault) => [fault, unseen()]));
  const faultOf = new Map(faults.map((fault) => [fault.node, fault]));
  const wellCalled = new Set<string>();

  function lookAt(fault: PlannedFault, causes: ReadonlySet<string>, works: boolean, seconds: number): void {
    const { is, begins, ends } = fault;
    const note = notes.get(fault);
    if (note === undefined) return;
    const isOn = begins <= seconds && seconds < ends;
    const maySee = begins <= seconds && seconds < ends + slack;
    if (isOn && (works || !is.isSlow)) note.working += step;
    for (const cause of causes) {
      if (maySee && cause === is.cause) note.calledAfter ??= seconds - begins;
      else if (maySee && is.cause !== null && unnamed.has(cause)) note.isUnnamed = true;
      else note.isFalseAlarm = true;
    }
  }

  return {
    look(truth, analysis, seconds) {
      const causesOf = new Map<string, Set<string>>();
      for (const { node, cause, gpus } of analysis.accountingEntries.list)
        if (cause !== undefined && gpus > 1e-9) causesOf.set(node, (causesOf.get(node) ?? new Set()).add(cause));
      const gpusOf = Map.groupBy(truth.physicalGpus, ({ node }) => node);
      for (const { name } of scenario.nodes) {
        const causes = causesOf.get(name) ?? new Set<string>();
        const fault = faultOf.get(name);
        if (fault === undefined) {
          if (causes.size > 0) wellCalled.add(name);
          continue;
        }
        const gpu = gpusOf.get(name)?.[fault.physicalGpu];
        lookAt(fault, causes, gpu?.holders.some(({ activity }) => activity > 0.05) === true, seconds);
      }
    },
    outcomes: () => ({
      faults: faults.map((fault) => {
        const { working, ...note } = notes.get(fault) ?? unseen();
        const page = pages.get(fault.node);
        const isShown = fault.is.ofNode || (page?.exporter != null && (!fault.is.isSlow || page.showsReasons));
        const isTrue = fault.is.cause !== null && working >= patience;
        return { fault: fault.is.name, cause: fault.is.cause, isTrue, isShown, ...note };
      }),
      wellNodesCalled: wellCalled.size,
      wellNodes: scenario.nodes.length - faultOf.size,
    }),
  };
}
