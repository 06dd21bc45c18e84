import { where } from "../exporter/catalogue/promql.ts";
import { sorted } from "../exporter/catalogue/promqlSeries.ts";
import type { Tools } from "./dashboard.ts";
import { barGauge } from "./panel/barGauge.ts";
import type { PanelDraft } from "./panel/draft.ts";
import { limitOf, worseAbove } from "./panel/levels.ts";
import { shows } from "./panel/shown.ts";
import { table } from "./panel/table.ts";
import { text } from "./panel/text.ts";
import { units } from "./panel/units.ts";

/** The price of a GPU-hour of each kind, and its source. */
export function prices({ query, currency, money, rowLink }: Tools): PanelDraft {
  return table({
    title: "Prices per GPU-hour",
    meaning: `What a GPU-hour costs in ${currency}, by where the price comes from and what it contains: the whole node divided by its GPUs, or the GPUs' own part of it. Numbers of different bases are not comparable.`,
    size: [24, 7],
    labels: { pool: "Pool", capacity_type: "Capacity", price_basis: "Basis", price_source: "From", cluster: "Cluster" },
    values: [
      {
        title: "A GPU-hour",
        query: query.max(
          "fairlead_price_per_gpu_hour",
          ["cluster", "pool", "capacity_type", "price_basis", "price_source"],
          { currency },
        ),
        unit: money,
        decimals: 2,
      },
    ],
    sortBy: "A GPU-hour",
    empty: "no GPU has a price in this currency",
    links: { pool: rowLink("fleet", "What does the pool have?", { cluster: "cluster", pool: "pool" }) },
  });
}

/** GPUs whose price is missing or old. */
export function agingPrices({ query, alerts, page }: Tools): PanelDraft {
  return barGauge({
    title: "GPUs with a missing or old price",
    meaning:
      "GPUs of each pool whose price is not known, or older than `prices.staleDays`: amounts are too low or out of date by as much. Put the prices into the price file.",
    unit: units.gpus,
    levels: worseAbove(...limitOf(alerts, "GpuPriceStale", ({ minGpus }) => minGpus)),
    noValue: "every price is known and new",
    size: [24, 6],
    shows: [
      shows(
        sorted(where(query.recorded("cluster_pool:fairlead_doubtful_price_gpus:sum"), ">", 0), "largest"),
        "{{pool}} ({{cluster}})",
      ),
    ],
    links: [page("/", "Problems with prices")],
  });
}

/** How all amounts of the page are computed. */
export function method({ currency, page }: Tools): PanelDraft {
  const costs = page("/api/v1/costs?by=team&from=30d", "").url;
  return text({
    title: "Method",
    size: [24, 8],
    markdown: [
      `**Currency:** ${currency} only. Amounts in other currencies are not shown, and never added up.`,
      "",
      "**Who pays:** a team pays for all GPUs that its pods hold, used or not, but for the states in `cost.notCharged`. What nobody holds stays with the platform.",
      "",
      "**Price:** that of the moment in which the GPU was allocated; a new price changes nothing in the past. The table of prices says where each comes from, its basis, and the panel above this text which are old.",
      "",
      "**Time:** the range of this page, as far back as your Prometheus keeps it, seen every 10 minutes. Budgets and their forecasts are of the calendar month (UTC), from Fairlead's own ledger.",
      "",
      `**For invoices:** take [the exact accounts](${costs}) or the FOCUS export, not this page.`,
    ].join("\n"),
  });
}
