import { execFile } from "node:child_process";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { afterAll, beforeAll, expect, it } from "vitest";
import { run } from "../../cli/run.ts";
import { openSqliteLedger } from "../../exporter/accounts/ledger/sqliteLedger.ts";
import type { Posting } from "../../exporter/accounts/posting.ts";
import { allocatedStates, type GpuState } from "../../exporter/model/gpuStates.ts";
import { account, entry, keepAll, posting, start } from "../accounts/ledger/entries.ts";
import { captureIo } from "../cli/captureIo.ts";
import { installed } from "./program.ts";

/** What our data set supports, in the validator's words; not among them: regions, commitments, invoices, other currencies. */
const criteria = [
  "ACCOUNT_NAMING_SUPPORTED",
  "MULTIPLE_PRICING_CATEGORIES_SUPPORTED",
  "NEGOTIATED_PRICING_SUPPORTED",
  "UNIT_PRICING_SUPPORTED",
  "USAGE_MEASUREMENT_SUPPORTED",
  "SUB_ACCOUNT_SUPPORTED",
  "MULTIPLE_SUB_ACCOUNT_TYPES_SUPPORTED",
  "BILLING_BASED_ON_PROVISIONED_RESOURCES_SUPPORTED",
  "RESOURCE_TYPE_ASSIGNMENT_SUPPORTED",
  "TAGGING_SUPPORTED",
];

/** "InvoiceId must be null without an invoice" and "must not be null with one" are both tried; one of them must hold. */
const otherBranch = ["InvoiceId-C-005-C"];

let validator: string;
let folder: string;
let ledgerFile: string;

beforeAll(async () => {
  validator = await installed("install-focus-validator.sh");
  folder = await mkdtemp(join(tmpdir(), "fairlead-focus-"));
  ledgerFile = join(folder, "ledger.db");
  const opened = await openSqliteLedger({ file: ledgerFile, retention: keepAll, closeMilliseconds: 60_000 });
  if (!opened.ok) throw new Error(opened.problem.message);
  opened.ledger.append(
    entry({ to: start + 60 * 3600, postings: Array.from({ length: 60 }, (_, i) => hourOf(i)).flat() }),
  );
  await opened.ledger.flush();
  await opened.ledger.close();
}, 900_000);
afterAll(() => rm(folder, { recursive: true, force: true }));

const states: readonly GpuState[] = ["active", "idle", "underutilized", "free", "unavailable"];
const capacityTypes = ["on-demand", "spot", "reserved", null] as const;

/** A name that must be quoted. The validator takes no other letters than ASCII's, where the specification has Unicode. */
const strange = 'size "8", large';

/** Two currencies, a price of nothing, and none. */
function priceOf(i: number): { readonly currency: string | null; readonly perGpuHour: number } {
  const currency = i % 2 === 0 ? "USD" : "EUR";
  return { currency: i % 10 === 9 ? null : currency, perGpuHour: i % 20 === 0 ? 0 : 12.29 + i / 7 };
}

/** An hour with every state and capacity type. */
function hourOf(h: number): readonly Posting[] {
  return Array.from({ length: 40 }, (_, i): Posting => {
    const state = states[(h * 7 + i) % states.length] ?? "active";
    const gpuSeconds = (3600 * 8 * (((i * 37 + h) % 11) + 1)) / 13;
    const { currency, perGpuHour } = priceOf(i);
    const of = {
      state,
      pool: i % 2 === 0 ? "A100" : "H100",
      nodePool: "gpu/large",
      capacityType: capacityTypes[i % 4] ?? null,
      currency,
    };
    const amounts = {
      hour: start + h * 3600,
      gpuSeconds,
      estimatedGpuSeconds: (gpuSeconds * (i % 3)) / 3,
      energyJoules: i % 6 === 0 ? null : gpuSeconds * 300,
      cost: currency === null ? null : (gpuSeconds / 3600) * perGpuHour,
    };
    if (!allocatedStates.some((one) => one === state)) {
      const nobody = account({ ...of, team: null, queue: null, namespace: null, priorityClass: null });
      return posting({ ...amounts, workload: null, account: nobody });
    }
    const team = i % 5 === 0 ? strange : `team-${i % 5}`;
    const namespace = `ns-${i % 5}`;
    const holder = { team, namespace, queue: i % 3 === 0 ? null : team, priorityClass: i % 2 === 0 ? null : "high" };
    const workload = { kind: "Job", namespace, name: `job-${(i * h) % 17}` };
    return posting({ ...amounts, workload, account: account({ ...of, ...holder }) });
  });
}

interface Verdict {
  readonly passed: readonly string[];
  readonly failed: readonly string[];
}

async function exported(name: string, ...flags: readonly string[]): Promise<string> {
  const file = join(folder, name);
  const io = captureIo();
  const window = ["--from", "2026-11-02", "--to", "2026-11-05"];
  expect(await run(["ledger", "export", ledgerFile, ...window, ...flags, "--output", file], io)).toBe(0);
  return file;
}

/** What the FinOps Foundation's validator says about a file, by the identifiers of the rules. */
async function validate(file: string, supported: readonly string[]): Promise<Verdict> {
  const flags = ["--data-file", file, "--validate-version", "1.2", "--block-download"];
  const { stdout } = await promisify(execFile)(
    "python3",
    ["-m", "focus_validator.main", ...flags, "--applicability-criteria", supported.join(",")],
    { cwd: validator, env: { ...process.env, PYTHONPATH: validator }, encoding: "utf8", maxBuffer: 1 << 26 },
  );
  const rules = (verdict: string): readonly string[] =>
    [...stdout.matchAll(new RegExp(`^\\S+ (\\S+): ${verdict} `, "gmu"))].map(([, rule = ""]) => rule);
  return { passed: rules("PASS"), failed: rules("FAIL") };
}

it.each([
  ["by day and workload, charged by allocation", []],
  ["by hour, charged by use", ["--granularity", "hour", "--charge", "use"]],
])("an export %s keeps the rules of FOCUS 1.2", async (name, flags) => {
  const { passed, failed } = await validate(await exported(`${name.slice(0, 6)}.csv`, ...flags), criteria);
  expect(failed).toEqual(otherBranch);
  expect(passed.length).toBeGreaterThan(230);
  expect(passed).toEqual(
    expect.arrayContaining([
      "CostAndUsage-D-006-M",
      "ContractedUnitPrice-C-011-C",
      "BillingCurrency-C-006-M",
      "Tags-C-001-M",
    ]),
  );
});

it("its list prices keep theirs, which the validator asks of who publishes a price list", async () => {
  const file = await exported("list.csv");
  const { passed, failed } = await validate(file, [...criteria, "PUBLIC_PRICE_LIST_SUPPORTED"]);
  expect(passed).toEqual(
    expect.arrayContaining(["ListUnitPrice-C-000-C", "ListUnitPrice-C-010-C", "ListCost-C-009-C"]),
  );
  // It then asks for prices in a virtual currency, too, as if one of a rule's several conditions were enough.
  const others = failed.filter(
    (rule) => !/^(PricingCurrency\w*-C|CostAndUsage-D-0(46|47|48|50|51|52|54|55|56)-C$)/.test(rule),
  );
  expect(others).toEqual(otherBranch);
});
