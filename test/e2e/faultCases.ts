import type { GpuState } from "../../exporter/model/gpuStates.ts";
import type { Fault } from "../../simulator/faults.ts";
import { apiFaultCases } from "./faults/apiFaultCases.ts";
import { nodeFaultCases } from "./faults/nodeFaultCases.ts";
import { queueFaultCases } from "./faults/queueFaultCases.ts";
import { telemetryFaultCases } from "./faults/telemetryFaultCases.ts";

/** A kind of problem that must be there, and nothing beside what is expected. */
export interface ExpectedProblem {
  readonly code: string;
  /** What each problem of this code is about; absent where they are many, or name pods. */
  readonly subjects?: readonly (string | null)[];
  /** Part of its message on `/`. */
  readonly says: string;
  /** Begin of its next step on `/`. */
  readonly next: string;
}

/** One state of affairs, after some steps of 30 s. */
export interface FaultPhase {
  readonly steps: number;
  /** All problems that there are. */
  readonly problems: readonly ExpectedProblem[];
  /** What is reported about a node: GPUs in a state. */
  readonly states?: readonly { readonly node: string; readonly state: GpuState; readonly gpus: number }[];
  /** Sums of series by name and some labels; `null`: there is no such series. */
  readonly series?: Readonly<Record<string, number | null>>;
  /** Counters that must have grown since the fault began, by name and some labels. */
  readonly grown?: readonly string[];
  /** Which numbers the fault leaves knowable: all, all but those of queues, or what is on the nodes but not who holds it. */
  readonly truth: "all" | "layouts" | "holders" | "physicalGpus";
}

/** A fault, and what Fairlead makes of it; a row of `docs/faults.md`. */
export interface FaultCase {
  readonly name: string;
  readonly faults: readonly Fault[];
  /** While the last good answer is young: answers stay. */
  readonly early: FaultPhase;
  /** When it is too old. */
  readonly late: FaultPhase;
  /** Something is slow in it, in real time: limits are a second then. */
  readonly isSlow?: true;
  /** How often each problem begins and ends while the fault comes and goes; once, unless said. */
  readonly times?: number;
  /** What Fairlead does, for the document. */
  readonly does: string;
  /** What a person does where no problem says so. */
  readonly todo?: string;
}

/** Every fault of the simulator. */
export const faultCases: readonly FaultCase[] = [
  ...telemetryFaultCases,
  ...nodeFaultCases,
  ...apiFaultCases,
  ...queueFaultCases,
];
