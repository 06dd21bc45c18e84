import type {
  AnnotationQuery,
  Dashboard,
  DashboardLink,
  FieldConfig,
  FieldConfigSource,
  GridPos,
  Panel,
  RowPanel,
  ValueMapping,
  VariableModel,
} from "@grafana/grafana-foundation-sdk/dashboard";
import type { Dataquery } from "@grafana/grafana-foundation-sdk/prometheus";
import type { Plain } from "./plain.ts";

/** One query of a panel. */
export type TargetJson = Plain<Dataquery>;
export type GridPosJson = Plain<GridPos>;
export type ValueMappingJson = Plain<ValueMapping>;

/** A link from a value. The SDK gives it the type of a dashboard's link, but Grafana writes and reads only these fields. */
export type DataLinkJson = Pick<Plain<DashboardLink>, "title" | "targetBlank"> & { readonly url: string };
export type FieldConfigJson = Omit<Plain<FieldConfig>, "links"> & { readonly links?: readonly DataLinkJson[] };
export type FieldConfigSourceJson = Omit<Plain<FieldConfigSource>, "defaults"> & { readonly defaults: FieldConfigJson };
export type OverrideJson = FieldConfigSourceJson["overrides"][number];
export type VariableJson = Plain<VariableModel>;
export type AnnotationJson = Omit<Plain<AnnotationQuery>, "target"> & { readonly target?: TargetJson };
export type LinkJson = Plain<DashboardLink>;

/** A transformation of the results of queries, by its id in Grafana. */
export interface TransformationJson {
  readonly id: "merge" | "organize" | "limit" | "sortBy" | "filterByValue" | "filterFieldsByName" | "renameByRegex";
  readonly options: Readonly<Record<string, unknown>>;
}

/** A panel as Grafana reads it. */
export type PanelJson = Omit<Plain<Panel>, "targets" | "transformations" | "fieldConfig"> & {
  readonly fieldConfig?: FieldConfigSourceJson;
  readonly id: number;
  readonly gridPos: GridPosJson;
  readonly targets?: readonly TargetJson[];
  readonly transformations?: readonly TransformationJson[];
};

/** A row of panels; a collapsed row contains them itself. */
export type RowJson = Omit<Plain<RowPanel>, "panels"> & { readonly panels: readonly PanelJson[] };

/** A whole dashboard in Grafana's classic form, which every version from 10 on reads. */
export type DashboardJson = Omit<Plain<Dashboard>, "panels" | "annotations"> & {
  readonly uid: string;
  readonly title: string;
  readonly panels: readonly (PanelJson | RowJson)[];
  readonly annotations: { readonly list: readonly AnnotationJson[] };
};
