import { aggregate, call } from "../../exporter/catalogue/promql.ts";
import { readingLabels } from "./readings.ts";
import { ofOneReplica } from "./recorded.ts";

/** The rule of each reading, which is derived from its name. */
export function readingRules(): readonly { readonly record: string; readonly expr: string }[] {
  return Object.entries(readingLabels).map(([record, labels]) => {
    const [, metric = "", operation] = record.split(":");
    return {
      record,
      expr: aggregate(operation === "max" ? "max" : "sum", ofOneReplica(call<string>(metric)), labels).text,
    };
  });
}
