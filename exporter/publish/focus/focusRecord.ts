import type { ExportRow } from "../../accounts/ledger/exportQuery.ts";
import { csvLine, csvTextCell } from "../../kernel/csvLine.ts";
import { isoTime } from "../../kernel/isoTime.ts";
import { plainDecimal } from "../../kernel/plainDecimal.ts";
import type { ChargeBasis } from "../../model/charge.ts";
import { type FocusRecord, focusColumns } from "./columns.ts";

/** What all rows of one export share. */
export interface FocusContext {
  readonly cluster: string;
  /** The name of those who provide GPUs to the teams: provider, publisher and issuer are the same. */
  readonly provider: string;
  readonly charge: ChargeBasis;
}

/** Why a row cannot be written in FOCUS: costs must not be null, and must be in a national currency. */
type NoFocusReason = "unpriced" | "currency";

const unit = "GPU-Hours";
const secondsPerHour = 3600;
const joulesPerKilowattHour = 3_600_000;
const nationalCurrencies: ReadonlySet<string> = new Set(Intl.supportedValuesOf("currency"));

/** Why a row cannot be written in FOCUS; `null`: it can. */
export function noFocusReason({ cost, currency }: ExportRow): NoFocusReason | null {
  if (cost === null || currency === null) return "unpriced";
  return nationalCurrencies.has(currency) ? null : "currency";
}

/**
 * A row in FOCUS 1.2; `null` where `noFocusReason` returns a reason. Nobody sends an invoice, so the billed cost is 0. The unit
 * price is the mean of the prices at which the row was counted, cut to 12 digits, and the costs are that price times the
 * quantity, as the specification wants: they differ from the counted cost after the twelfth digit.
 */
export function focusRecord(row: ExportRow, context: FocusContext): FocusRecord | null {
  if (row.cost === null || row.currency === null || noFocusReason(row) !== null) return null;
  const hours = rounded(row.gpuSeconds / secondsPerHour);
  const unitPrice = rounded(row.cost / hours);
  const cost = hours * unitPrice;
  const { cluster, provider } = context;
  const { team, pool, nodePool, capacityType, isCharged } = row;
  const payer = isCharged ? team : null;
  return {
    BilledCost: 0,
    BillingAccountId: cluster,
    BillingAccountName: cluster,
    BillingCurrency: row.currency,
    ...billingPeriod(row.from),
    ChargeCategory: "Usage",
    ChargeClass: null,
    ChargeDescription: description(row, context),
    ChargeFrequency: "Usage-Based",
    ChargePeriodEnd: isoTime(row.to),
    ChargePeriodStart: isoTime(row.from),
    CommitmentDiscountStatus: null,
    ConsumedQuantity: rounded(row.activeGpuSeconds / secondsPerHour),
    ConsumedUnit: unit,
    ContractedCost: cost,
    ContractedUnitPrice: unitPrice,
    EffectiveCost: cost,
    InvoiceId: null,
    InvoiceIssuerName: provider,
    ListCost: cost,
    ListUnitPrice: unitPrice,
    PricingCategory: capacityType === "spot" ? "Dynamic" : "Standard",
    PricingQuantity: hours,
    PricingUnit: unit,
    ProviderName: provider,
    PublisherName: provider,
    ...resource(row, cluster),
    ServiceCategory: "Compute",
    ServiceName: "Kubernetes GPUs",
    ServiceSubcategory: "Containers",
    SkuId: pathOf([pool]),
    SkuMeter: "GPU time",
    SkuPriceDetails: '{"GpuCount":1}',
    SkuPriceId: pathOf([pool, nodePool, capacityType ?? "unknown"]),
    SubAccountId: payer,
    SubAccountName: payer,
    SubAccountType: payer === null ? null : "Team",
    Tags: tags(row),
    x_CapacityType: capacityType,
    x_ChargeBasis: context.charge,
    x_Cluster: cluster,
    x_EnergyKilowattHours: row.energyJoules === null ? null : rounded(row.energyJoules / joulesPerKilowattHour),
    x_EstimatedGpuHours: rounded(row.estimatedGpuSeconds / secondsPerHour),
    x_Namespace: row.namespace,
    x_NodePool: nodePool,
    x_Pool: pool,
    x_PriceBasis: row.priceBasis,
    x_PriceSource: row.priceSource,
    x_PriorityClass: row.priorityClass,
    x_Queue: row.queue,
    x_State: row.state,
    x_Team: team,
  };
}

/** The first line of a FOCUS file. */
export const focusHeading = csvLine(focusColumns);

/** A row as a line of RFC 4180; null is empty, decimals have no exponent. */
export function focusLine(record: FocusRecord): string {
  const cells = focusColumns.map((column) => {
    const value = record[column];
    return typeof value === "number" ? decimal(value) : csvTextCell(value);
  });
  return csvLine(cells);
}

/** Writes a number with a decimal point, so that a column of whole numbers is not taken for one of integers. */
function decimal(value: number): string {
  const digits = plainDecimal(value);
  return digits.includes(".") ? digits : `${digits}.0`;
}

function description({ isCharged, team, pool, state }: ExportRow, { charge }: FocusContext): string {
  if (isCharged) return `${pool} GPU time of ${team ?? ""}, charged by ${charge}`;
  return team === null
    ? `${pool} GPU time that was allocated to nobody (${state})`
    : `${pool} GPU time allocated to ${team}, not charged (${state})`;
}

/** The resource that is charged for: the workload, or the node pool where no workload is named. */
function resource(
  { workload, pool, nodePool }: ExportRow,
  cluster: string,
): Pick<FocusRecord, "ResourceId" | "ResourceName" | "ResourceType"> {
  if (workload === null) {
    return {
      ResourceId: pathOf([cluster, "NodePool", nodePool, pool]),
      ResourceName: nodePool,
      ResourceType: "NodePool",
    };
  }
  const { kind, namespace, name } = workload;
  return { ResourceId: pathOf([cluster, namespace, kind, name]), ResourceName: name, ResourceType: kind };
}

/** The calendar month (UTC) that a time is in. */
function billingPeriod(seconds: number): Pick<FocusRecord, "BillingPeriodStart" | "BillingPeriodEnd"> {
  const date = new Date(seconds * 1000);
  const month = (offset: number): string =>
    isoTime(Date.UTC(date.getUTCFullYear(), date.getUTCMonth() + offset) / 1000);
  return { BillingPeriodStart: month(0), BillingPeriodEnd: month(1) };
}

/** The tags of a row as JSON. All keys are Fairlead's own, and FOCUS wants a prefix to distinguish such keys. */
function tags({ team, queue, namespace, priorityClass }: ExportRow): string {
  const all = { team, queue, namespace, priorityClass };
  const known = Object.entries(all).filter(([, value]) => value !== null);
  return JSON.stringify(Object.fromEntries(known.map(([key, value]) => [`fairlead/${key}`, value])));
}

/** Joins parts by `/`. Slashes within a part are encoded, so that no two lists of parts give the same path. */
function pathOf(parts: readonly string[]): string {
  return parts.map((part) => part.replaceAll("%", "%25").replaceAll("/", "%2F")).join("/");
}

/** Rounds to 12 significant digits: the digits beyond them are noise of adding up. */
function rounded(value: number): number {
  return Number(value.toPrecision(12));
}
