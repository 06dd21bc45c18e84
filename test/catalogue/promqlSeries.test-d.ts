import { aggregate, filter, metric } from "../../exporter/catalogue/promql.ts";
import {
  arithmeticWithOne,
  labelFrom,
  quantileOfBuckets,
  recordedSeries,
  seriesOverTime,
  union,
} from "../../exporter/catalogue/promqlSeries.ts";

// Checked by tsc alone: each line below an expectation must not compile.

const allocated = recordedSeries<"cluster" | "pool">("cluster_pool:allocated:sum");

// @ts-expect-error a label that the series does not have
export const noLabel = recordedSeries<"cluster">("cluster:allocated:sum", { pool: "A100" });

// @ts-expect-error a range of what is no plain selector
export const noRange = seriesOverTime("avg", aggregate("sum", allocated, ["cluster"]), "1h");

// @ts-expect-error a label that was aggregated away
export const noSource = labelFrom(aggregate("sum", allocated, ["cluster"]), "team", "pool");

// @ts-expect-error a label that only one side has
export const oneSided = arithmeticWithOne(allocated, "/", recordedSeries<"cluster">("a:b:c"), ["pool"]);

// @ts-expect-error the right side has labels that the left has not
export const more = union(recordedSeries<"cluster">("a:b:c"), allocated);

const quantile = quantileOfBuckets(0.9, recordedSeries<"cluster" | "le">("a:b:c"));
// @ts-expect-error `le` is gone after the quantile
export const noBound = filter(quantile, "and", allocated, ["le"]);

// A metric of the catalogue is a plain selector, too.
export const catalogued = seriesOverTime("max", metric("fairlead_gpus"), "1h");
