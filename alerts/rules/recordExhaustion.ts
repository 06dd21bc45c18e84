import { arithmetic, filter, where } from "../../exporter/catalogue/promql.ts";
import { offset, secondsFromNow, slope, union } from "../../exporter/catalogue/promqlSeries.ts";
import { type Recordings, recorded } from "./recorded.ts";
import type { RecordedName } from "./recordedNames.ts";

const domain = ["cluster", "domain"] as const;

/** The values of the series that are not times, and could not be: the reason why no time is known. */
export const exhaustionReasons = { short: 0, notGrowing: 1, farOff: 2, shortHistory: 3 } as const;

/** Beyond this time, a line through some weeks is no longer a forecast. */
const farOffSeconds = 365 * 86_400;

/** The time at which demand reaches capacity if the trend continues: seconds since 1970, or a reason why no time is known. */
export const exhaustionRecordings = {
  "cluster_domain:fairlead_exhaustion_timestamp_seconds:predicted": ({ alerts: { GpuCapacityForecast } }) => {
    const { trendWindow, minHistory } = GpuCapacityForecast;
    const demand = recorded("cluster_domain:fairlead_demand_gpus:p95");
    const capacity = recorded("cluster_domain:fairlead_domain_capacity_gpus:max");
    const because = (reason: number) => arithmetic(arithmetic(demand, "*", 0), "+", reason);
    const known = offset(demand, minHistory);
    const isShort = where(demand, ">=", capacity);
    const seconds = arithmetic(arithmetic(capacity, "-", demand), "/", where(slope(demand, trendWindow), ">", 0));
    const isNear = where(seconds, "<=", farOffSeconds);
    return union(
      union(
        union(
          union(
            filter(because(exhaustionReasons.short), "and", isShort, domain),
            filter(because(exhaustionReasons.shortHistory), "unless", known, domain),
          ),
          secondsFromNow(isNear),
        ),
        filter(because(exhaustionReasons.farOff), "and", where(slope(demand, trendWindow), ">", 0), domain),
      ),
      filter(because(exhaustionReasons.notGrowing), "and", capacity, domain),
    );
  },
} satisfies Partial<Recordings<RecordedName>>;
