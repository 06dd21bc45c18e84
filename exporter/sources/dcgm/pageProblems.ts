import type { Problem } from "../../model/problem.ts";
import type { DeviceLimits } from "./devices.ts";

/** The facts that name a page in a problem. */
interface PageName {
  readonly target: string;
  readonly node: string | null;
}

function pageProblem(
  page: PageName,
  severity: Problem["severity"],
  code: string,
  finding: string,
  nextStep: string,
): Problem {
  const place = page.node === null ? page.target : `${page.target} (node ${page.node})`;
  return {
    source: "dcgm",
    code,
    severity,
    subject: page.node ?? page.target,
    message: `${place}: ${finding}`,
    nextStep,
  };
}

export function emptyPage(page: PageName): Problem {
  return pageProblem(
    page,
    "warning",
    "empty-page",
    "the page is empty; that is no data, not an idle node",
    "Wait one interval (dcgm-exporter answers so while it reloads); if it stays, read the exporter's log.",
  );
}

export function notAnExporter(page: PageName): Problem {
  return pageProblem(
    page,
    "error",
    "not-an-exporter-page",
    "the page has no line of a known GPU exporter",
    "Check URL, port and path: is this dcgm-exporter's /metrics, or a login page?",
  );
}

export function noDevices(page: PageName): Problem {
  return pageProblem(
    page,
    "warning",
    "no-gpu-rows",
    "an exporter's page without a row of any GPU; its GPUs are unknown, not absent",
    "Look whether the exporter sees GPUs (nvidia-smi in its pod); under virtual GPUs or DRA, versions before 4.8.2 hide unallocated ones: upgrade.",
  );
}

/** Problem codes of an exporter whose values do not change, surely frozen or most likely so. */
export const standstillCodes = { frozen: "exporter-frozen", doubtful: "exporter-doubtful" } as const;

const standstillFindings = {
  frozen: "the energy counters of GPUs that draw power among them; that is no data, not idle GPUs",
  doubtful:
    "power and temperature among them, which change on idle GPUs too, and it has no energy counter that would prove it alive; whether its GPUs are idle is unknown",
} as const;

const standstillSteps = {
  frozen:
    "Restart the exporter's pod: it has most likely lost its host engine (nv-hostengine, or the operator's DCGM pod); read the logs of both.",
  doubtful:
    "Compare with nvidia-smi on the node, and restart the exporter's pod if it differs; add DCGM_FI_DEV_TOTAL_ENERGY_CONSUMPTION to the exporter's metrics, which distinguishes idle GPUs from a frozen exporter.",
} as const;

/** The problem of an exporter whose values do not change. `since`: the time when they last changed, seconds since the epoch. */
export function exporterStandsStill(page: PageName, how: "frozen" | "doubtful", since: number): Problem {
  return pageProblem(
    page,
    how === "frozen" ? "error" : "warning",
    standstillCodes[how],
    `no value has changed since ${new Date(since * 1000).toISOString()}, ${standstillFindings[how]}`,
    standstillSteps[how],
  );
}

export function severalHosts(page: PageName, hosts: ReadonlySet<string | null>): Problem {
  const names = [...hosts].filter((host) => host !== null).sort();
  const shown = names.slice(0, 3).join(", ");
  const taken = page.node === null ? "the node is therefore unknown" : "all rows are taken as this node's";
  return pageProblem(
    page,
    "warning",
    "several-hosts",
    `the page names ${hosts.size} hosts (${shown}${names.length > 3 ? ", ..." : ""}); ${taken}`,
    "List a page that holds many nodes (federation) without a node, so that it is split by host label.",
  );
}

export function tooManyDevices(page: PageName, limits: DeviceLimits): Problem {
  return pageProblem(
    page,
    "error",
    "too-many-devices",
    `the page speaks for more than ${limits.maxGpus} GPUs or ${limits.maxInstancesPerGpu} instances a GPU; the rest is not read`,
    "A node has no such number of GPUs: look at what answers at this address.",
  );
}

export function tooManyClaimants(page: PageName, limits: DeviceLimits): Problem {
  return pageProblem(
    page,
    "warning",
    "too-many-claimants",
    `one device names more than ${limits.maxClaimantsPerDevice} pods; the rest is not read`,
    "Look at the replicas of the device plugin's sharing configuration, and at what answers at this address.",
  );
}

export function malformedLines(page: PageName, lines: number): Problem {
  return pageProblem(
    page,
    "info",
    "malformed-lines",
    `${lines} ${lines === 1 ? "line is" : "lines are"} neither comment nor sample, or cut off; the others are used`,
    "Before dcgm-exporter 4.8.3, pod labels with quotes or line breaks spoil lines: upgrade, or allow only the labels that are needed.",
  );
}
