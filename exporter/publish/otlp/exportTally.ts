import type { Problem } from "../../model/problem.ts";
import type { OtlpCounts, OtlpItem, OtlpResult } from "../health.ts";

/** Why an export failed, and what to do about it. */
export interface ExportFault {
  readonly message: string;
  readonly nextStep: string;
}

/** Counts how the exports went. */
export interface ExportTally {
  /**
   * Counts items by result. `sent`: accepted; `rejected`: refused in an answer that accepted the rest; `failed`: everything
   * else.
   */
  count(item: OtlpItem, result: OtlpResult, items: number): void;
  /** Sets what is wrong with the export of one kind of item; `null` if nothing is wrong any more. */
  setFault(item: OtlpItem, fault: ExportFault | null): void;
  counts(): OtlpCounts;
  /** Returns at most one problem, however much is wrong. */
  problems(): readonly Problem[];
}

/** Creates the tally of one endpoint. `subject` is its address without credentials. */
export function createExportTally(subject: string): ExportTally {
  const counts: Record<OtlpItem, Record<OtlpResult, number>> = {
    point: { sent: 0, rejected: 0, failed: 0 },
    span: { sent: 0, rejected: 0, failed: 0 },
  };
  const faults = new Map<OtlpItem, ExportFault>();
  return {
    count: (item, result, items) => {
      counts[item][result] += items;
    },
    setFault: (item, fault) => {
      if (fault === null) faults.delete(item);
      else faults.set(item, fault);
    },
    counts: () => ({ point: { ...counts.point }, span: { ...counts.span } }),
    problems: () => {
      const [first, ...rest] = [...faults];
      if (first === undefined) return [];
      const said = [first, ...rest].map(([item, fault]) => `${itemNames[item]}: ${fault.message}`);
      return [
        {
          source: "otlp",
          code: "otlp-export-failed",
          severity: "warning",
          subject,
          message: `the last export to ${subject} failed (${said.join("; ")})`,
          nextStep: first[1].nextStep,
        },
      ];
    },
  };
}

const itemNames: Readonly<Record<OtlpItem, string>> = { point: "metrics", span: "traces" };
