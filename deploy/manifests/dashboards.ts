import type { IConfigMap } from "kubernetes-models/v1";
import { expression, isSet, merged, value, valueBlock } from "../template/expression.ts";
import { optional } from "../template/template.ts";
import { type Manifest, manifest } from "./manifest.ts";
import { labels, namespaceOr, nameWith } from "./names.ts";

const annotations = valueBlock("dashboards.annotations", ({ dashboards }) => dashboards.annotations);

/** Where the chart keeps a dashboard: as a file, because its legends have braces that are not for Helm. */
export const dashboardFile = (uid: string): string => `files/dashboards/${uid}.json`;

/** A ConfigMap for a dashboard, which Grafana's sidecar finds by its label. `uid`: `fairlead-team` and such. */
export function dashboardConfigMap(uid: string): Manifest {
  const suffix = uid.replace(/^fairlead-/, "dashboard-");
  return manifest<IConfigMap>(
    `dashboards/${uid}.yaml`,
    {
      apiVersion: "v1",
      kind: "ConfigMap",
      metadata: {
        name: nameWith(suffix),
        namespace: namespaceOr(value("dashboards.namespace", ({ dashboards }) => dashboards.namespace)),
        labels: merged(
          valueBlock("dashboards.labels", ({ dashboards }) => dashboards.labels),
          labels,
        ),
        annotations: optional(isSet(annotations), annotations),
      },
      data: {
        [`${uid}.json`]: expression(
          "text",
          `.Files.Get ${JSON.stringify(dashboardFile(uid))} | trimSuffix "\\n"`,
          ({ files }) => files[dashboardFile(uid)] ?? "",
        ),
      },
    },
    value("dashboards.enabled", ({ dashboards }) => dashboards.enabled),
  );
}
