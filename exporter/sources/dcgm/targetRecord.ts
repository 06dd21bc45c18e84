import type { Problem } from "../../model/problem.ts";
import type { TelemetryPage } from "../../model/telemetry.ts";
import type { GetErrorCode, GetFailure, GetResult } from "../http/getResult.ts";
import { shownAddress } from "../http/shownText.ts";
import type { ScrapeTarget } from "./discover.ts";
import { standstill } from "./frozen.ts";
import { exporterStandsStill } from "./pageProblems.ts";
import { createPageReader, type PageReader, type ReaderResult } from "./pageReader.ts";
import type { PageLimits } from "./pageShape.ts";

/** Why the last attempt at a target gave no page. */
export interface TargetFault {
  readonly code: string;
  readonly message: string;
  readonly nextStep: string;
  /** The time of the first of the failures in a row, seconds since the epoch. */
  readonly since: number;
}

/** What is remembered of one target. It is replaced as a whole after each attempt. */
export interface TargetRecord {
  readonly target: ScrapeTarget;
  /** URL without credentials. */
  readonly name: string;
  /** Reads the target's pages, and remembers the layout of the last one. */
  readonly reader: PageReader;
  /** The last good pages: one, or one for each host where the target has no node. */
  readonly pages: readonly TelemetryPage[];
  /**
   * The time when the pages were received, seconds since the epoch; for a frozen exporter, the time when its values were new.
   * `null` if there never were any pages.
   */
  readonly lastGoodAt: number | null;
  /** The time since which the pages have had their present values, seconds since the epoch; `null` without a page. */
  readonly movedAt: number | null;
  /** Number of successive good pages that had the values of the one before. */
  readonly stillPages: number;
  /** Why the last attempt failed; `null` while the last attempt was good, and before the first one. */
  readonly fault: TargetFault | null;
  /** What is odd about the last page that was received, good or not. */
  readonly pageProblems: readonly Problem[];
  readonly wasTried: boolean;
}

/** The record of a target that has not been asked yet. */
export function newRecord(target: ScrapeTarget, limits?: Partial<PageLimits>): TargetRecord {
  const name = shownAddress(target.url);
  const { node } = target;
  // A page of a known node is taken as its exporter's own; where the host label decides, it may be a federation.
  const reader = createPageReader({
    target: name,
    node,
    origin: node === null ? "prometheus" : "exporter",
    splitsByHost: node === null,
    limits,
  });
  return {
    target,
    name,
    reader,
    pages: [],
    lastGoodAt: null,
    movedAt: null,
    stillPages: 0,
    fault: null,
    pageProblems: [],
    wasTried: false,
  };
}

/** The identity of a target. The same address for another node is another target, and gets none of its pages. */
export function recordKey(target: ScrapeTarget): string {
  return `${target.url}\n${target.node ?? ""}`;
}

/**
 * The record after an attempt that ended at `now` and whose page was read by the record's own reader. Pages whose values have
 * not changed for an implausibly long time (`standstill`) are no data; they are as old as their values.
 */
export function afterAttempt(
  record: TargetRecord,
  result: GetResult<ReaderResult>,
  now: number,
  frozenAfterSeconds: number,
): TargetRecord {
  if (!result.ok) return failed(record, result.code, result.message, nextStepAfter(result), now, []);
  const { pages, problems, hasMoved } = result.value;
  if (pages.length > 0) {
    const movedAt = hasMoved || record.movedAt === null ? now : Math.min(record.movedAt, now);
    const stillPages = hasMoved ? 0 : record.stillPages + 1;
    const good = {
      ...record,
      pages: hasMoved ? pages : pages.map((page) => ({ ...page, movedAt })),
      lastGoodAt: now,
      movedAt,
      stillPages,
      fault: null,
      pageProblems: problems,
      wasTried: true,
    };
    const found = standstill(good, now, frozenAfterSeconds);
    if (found === null) return good;
    const page = { target: record.name, node: record.target.node };
    const { code, message, nextStep } = exporterStandsStill(page, found, movedAt);
    return failed({ ...good, lastGoodAt: movedAt, fault: record.fault }, code, message, nextStep, now, problems);
  }
  const [first, ...rest] = problems;
  const code = first?.code ?? "empty-page";
  return failed(record, code, first?.message ?? "no page", first?.nextStep ?? "Read the exporter's log.", now, rest);
}

function failed(
  record: TargetRecord,
  code: string,
  message: string,
  nextStep: string,
  now: number,
  pageProblems: readonly Problem[],
): TargetRecord {
  const fault: TargetFault = { code, message, nextStep, since: record.fault?.since ?? now };
  return { ...record, fault, pageProblems, wasTried: true };
}

const nextSteps: Partial<Record<GetErrorCode, string>> = {
  timeout:
    "Look at the exporter's load (dense MIG nodes need long), at network policies, or raise dcgm.timeoutSeconds.",
  refused: "Check that the exporter runs and listens on this port (dcgm.discovery[].port).",
  unreachable: "Check the network policies between Fairlead and the exporter, and whether the node is up.",
  dns: "Check the host name in dcgm.targets.",
  tls: "Check the scheme and the CA file of this target (caFile).",
  credentials: "Check that the file exists, is mounted and may be read by Fairlead.",
  status: "Read the exporter's log; 4.8.3 answers 500 to a single duplicate series.",
  bad_redirect: "Give the final URL in dcgm.targets, or the path in dcgm.discovery[].path.",
  too_large: "Look at what answers there; if it is right, raise dcgm.maxPageBytes.",
};

function nextStepAfter({ code, status }: GetFailure): string {
  if (status === 401 || status === 403) return "List the target in dcgm.targets with its credentials.";
  return nextSteps[code] ?? "Ask the same URL by hand (curl) from Fairlead's pod and read the exporter's log.";
}
