import {
  type DataFrame,
  dateTimeFormat,
  type Field,
  FieldType,
  formattedValueToString,
  type GrafanaTheme2,
  getFieldDisplayName,
  getFieldSeriesColor,
} from "@grafana/data";

export type Stacking = "none" | "normal" | "percent";

/** A bar of a chart. */
export interface Bar {
  readonly category: number;
  readonly series: number;
  /** The beginning of the bar on the axis of values; `to` is its end. */
  readonly from: number;
  readonly to: number;
  readonly color: string;
  readonly word: string;
}

/** The names along the axis, and the columns that have a bar for each name. */
export interface Categories {
  readonly names: readonly string[];
  readonly series: readonly Field[];
  readonly frame: DataFrame;
}

const isHidden = ({ config }: Field): boolean => config.custom?.hideFrom?.viz === true;

function wordOf(field: Field, value: unknown): string {
  if (field.type === FieldType.time && typeof value === "number")
    return dateTimeFormat(value, { format: "MM/DD", timeZone: "utc" });
  return field.display === undefined ? String(value) : formattedValueToString(field.display(value));
}

/** The rows of the first frame by the named field, else by its first field of texts, else by time; `null` if there are none. */
export function categories(frames: readonly DataFrame[], xField: string | undefined): Categories | null {
  const [frame] = frames;
  if (frame === undefined) return null;
  const ofType = (wanted: FieldType) => frame.fields.find(({ type }) => type === wanted);
  const named = frame.fields.find((field) => field.name === xField || getFieldDisplayName(field, frame) === xField);
  const x = named ?? ofType(FieldType.string) ?? ofType(FieldType.time);
  if (x === undefined) return null;
  const series = frame.fields.filter((field) => field !== x && field.type === FieldType.number && !isHidden(field));
  return { names: x.values.map((value: unknown) => wordOf(x, value)), series, frame };
}

/** Round values between two limits, about `count` of them. */
export function niceTicks(max: number, min: number, count: number): readonly number[] {
  const raw = (max - min) / Math.max(1, count);
  const power = 10 ** Math.floor(Math.log10(raw || 1));
  const step = power * ([1, 2, 2.5, 5, 10].find((one) => one * power >= raw) ?? 10);
  const first = Math.ceil(min / step) * step;
  return Array.from({ length: Math.max(0, Math.floor((max - first) / step + 1e-9) + 1) }, (_, i) => first + i * step);
}

function colorOf(field: Field, byValue: string | undefined, theme: GrafanaTheme2): string {
  const isByValue = field.config.color?.mode === "thresholds";
  return (isByValue ? byValue : undefined) ?? getFieldSeriesColor(field, theme).color;
}

/** The bars of one category. */
function barsAt(category: number, series: readonly Field[], stacking: Stacking, theme: GrafanaTheme2): readonly Bar[] {
  const values = series.flatMap((field, at) => {
    const value: unknown = field.values[category];
    return typeof value === "number" && field.display !== undefined
      ? [{ field, at, value, shown: field.display(value) }]
      : [];
  });
  const whole = values.reduce((sum, { value }) => sum + Math.abs(value), 0) || 1;
  let [above, below] = [0, 0];
  return values.map(({ field, at, value, shown }) => {
    const long = stacking === "percent" ? value / whole : value;
    const base = stacking === "none" ? 0 : value >= 0 ? above : below;
    if (value >= 0) above += long;
    else below += long;
    const color = colorOf(field, shown.color, theme);
    return { category, series: at, from: base, to: base + long, color, word: formattedValueToString(shown) };
  });
}

/** All bars of a chart. */
export function barsOf({ names, series }: Categories, stacking: Stacking, theme: GrafanaTheme2): readonly Bar[] {
  return names.flatMap((_, category) => barsAt(category, series, stacking, theme));
}
