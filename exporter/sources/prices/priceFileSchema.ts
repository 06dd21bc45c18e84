import { z } from "zod";
import { capacityTypes } from "../../model/capacityType.ts";
import { priceBases } from "../../model/prices.ts";

const name = z.string().min(1).max(253);
const amount = z.number().positive().max(1_000_000);
const currency = z.string().regex(/^[A-Za-z][A-Za-z0-9_-]{0,15}$/, "expected a short word such as USD");
const day = z.string().superRefine((text, context) => {
  if (dayOrTime(text) === null)
    context.addIssue({
      code: "custom",
      message: `found ${JSON.stringify(text.slice(0, 40))}, expected a day such as 2026-10-01, or a time such as 2026-10-01T00:00:00Z`,
    });
});

const entry = z
  .strictObject({
    instanceType: name.optional(),
    gpuModel: name.optional(),
    provider: name.optional(),
    region: name.optional(),
    nodePool: name.optional(),
    labels: z.record(z.string().min(1).max(317), z.string().max(63)).default({}),
    perNodeHour: amount.optional(),
    perGpuHour: amount.optional(),
    capacityType: z.enum(capacityTypes).default("on-demand"),
    currency: currency.optional(),
    basis: z.enum(priceBases).default("whole-instance"),
    date: day.optional(),
    validFrom: day.optional(),
    origin: z.string().min(1).max(300).optional(),
  })
  .superRefine(({ perNodeHour, perGpuHour }, context) => {
    if (perNodeHour === undefined && perGpuHour === undefined)
      context.addIssue({ code: "custom", message: "has no price, expected perNodeHour or perGpuHour" });
    if (perNodeHour !== undefined && perGpuHour !== undefined)
      context.addIssue({ code: "custom", message: "has both perNodeHour and perGpuHour, expected one of them" });
  });

/** The user's own prices, as they are in the file. */
export const priceFileSchema = z.strictObject({
  /** The currency of entries that have none. */
  currency: currency.default("USD"),
  /** The date when the prices were last checked, for entries without a date. */
  date: day.optional(),
  origin: z.string().min(1).max(300).optional(),
  prices: z.array(entry).max(5000),
});

export type PriceFile = z.infer<typeof priceFileSchema>;

/** Seconds since the epoch of a day (its beginning in UTC) or a time (RFC 3339); `null` for anything else. */
export function dayOrTime(text: string): number | null {
  const parts = /^(\d{4})-(\d\d)-(\d\d)(T\d\d:\d\d:\d\d(\.\d+)?(Z|[+-]\d\d:\d\d))?$/.exec(text);
  if (parts === null) return null;
  const day = `${parts[1]}-${parts[2]}-${parts[3]}`;
  const begin = Date.parse(`${day}T00:00:00Z`);
  // Date.parse reads 2026-02-30 as the second of March.
  if (Number.isNaN(begin) || new Date(begin).toISOString().slice(0, 10) !== day) return null;
  const milliseconds = parts[4] === undefined ? begin : Date.parse(text);
  return Number.isNaN(milliseconds) ? null : milliseconds / 1000;
}
