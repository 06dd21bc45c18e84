import { type DisplayValue, type Field, FieldType, formattedValueToString, getFieldDisplayName } from "@grafana/data";
import { LegendDisplayMode } from "@grafana/schema";
import { VizLegend, type VizLegendItem } from "@grafana/ui";
import { axisText, axisWordWidth, legendHeightFor, TimeAxis, timeAxisHeight } from "./axis.tsx";
import type { DrawnPanel } from "./drawnPanel.ts";
import { flag, numberOption, part } from "./option.ts";
import { legendOf } from "./timeSeries.tsx";

interface State {
  readonly from: number;
  readonly to: number;
  readonly shown: DisplayValue;
}
interface Row {
  readonly name: string;
  readonly states: readonly State[];
}

/** The spells of one state; a spell lasts until the next sample, but no longer than `gap`. */
function statesOf(
  times: readonly number[],
  values: Field,
  gap: number,
  end: number,
  isMerged: boolean,
): readonly State[] {
  const states: State[] = [];
  for (const [i, at] of times.entries()) {
    const value: unknown = values.values[i];
    if (value === null || value === undefined || values.display === undefined) continue;
    const to = Math.min(times[i + 1] ?? end, at + gap, end);
    const shown = values.display(value);
    const last = states.at(-1);
    const isSame =
      last !== undefined &&
      isMerged &&
      last.to >= at &&
      formattedValueToString(last.shown) === formattedValueToString(shown) &&
      last.shown.color === shown.color;
    if (isSame) states[states.length - 1] = { ...last, to };
    else states.push({ from: at, to, shown });
  }
  return states;
}

function rowsOf({ panel, frames, timeRange }: DrawnPanel): readonly Row[] {
  const isMerged = flag(panel.options, "mergeValues", true);
  return frames.flatMap((frame) => {
    const time = frame.fields.find(({ type }) => type === FieldType.time);
    if (time === undefined) return [];
    const times: readonly number[] = time.values;
    const gap = (time.config.interval ?? 600_000) * 1.5;
    return frame.fields
      .filter(({ type }) => type !== FieldType.time)
      .map((values) => ({
        name: getFieldDisplayName(values, frame, frames),
        states: statesOf(times, values, gap, timeRange.to.valueOf(), isMerged),
      }));
  });
}

function legendItems(rows: readonly Row[]): VizLegendItem[] {
  const items = new Map<string, VizLegendItem>();
  for (const { states } of rows)
    for (const { shown } of states) {
      const label = formattedValueToString(shown);
      items.set(label, { label, color: shown.color ?? "gray", yAxis: 1 });
    }
  return [...items.values()].sort((a, b) => a.label.localeCompare(b.label));
}

/** States over time, one row for each series. This is our own: Grafana's panel is not on npm. */
export function StateTimelinePanel(drawn: DrawnPanel) {
  const { panel, width, height, theme, timeRange } = drawn;
  const rows = rowsOf(drawn);
  const [from, to] = [timeRange.from.valueOf(), timeRange.to.valueOf()];
  const legend = legendOf(panel.options);
  const items = legendItems(rows);
  const isShown = legend.showLegend && legend.displayMode !== LegendDisplayMode.Hidden && items.length > 0;
  const words = items.map(({ label }) => label);
  const legendHeight = legendHeightFor(isShown ? words : [], width, theme);
  const left = Math.min(width * 0.35, Math.max(0, ...rows.map(({ name }) => axisWordWidth(name, theme))) + 10);
  const [plotWidth, plotHeight] = [width - left - 4, height - timeAxisHeight - legendHeight];
  const each = plotHeight / Math.max(1, rows.length);
  const bar = each * (numberOption(panel.options, "rowHeight") ?? 0.9);
  const x = (at: number): number => left + ((Math.max(at, from) - from) / (to - from)) * plotWidth;
  return (
    <div style={{ position: "relative", width, height, overflow: "hidden" }}>
      {rows.map(({ name, states }, row) => (
        <div key={name}>
          <span
            style={{
              position: "absolute",
              left: 0,
              width: left - 8,
              top: row * each,
              height: each,
              textAlign: "right",
              overflow: "hidden",
              textOverflow: "ellipsis",
              ...axisText(theme),
              lineHeight: `${each}px`,
            }}
          >
            {name}
          </span>
          {states.map((state) => (
            <Spell
              key={state.from}
              state={state}
              isWritten={panel.options.showValue !== "never"}
              left={x(state.from)}
              width={Math.max(1, x(state.to) - x(state.from))}
              top={row * each + (each - bar) / 2}
              height={bar}
              drawn={drawn}
            />
          ))}
        </div>
      ))}
      <TimeAxis from={from} to={to} left={left} width={plotWidth} top={plotHeight} theme={theme} />
      {isShown ? (
        <div style={{ position: "absolute", top: height - legendHeight, left: 0, width }}>
          <VizLegend items={items} displayMode={LegendDisplayMode.List} placement="bottom" />
        </div>
      ) : null}
    </div>
  );
}

function Spell(of: {
  state: State;
  isWritten: boolean;
  left: number;
  width: number;
  top: number;
  height: number;
  drawn: DrawnPanel;
}) {
  const { state, theme } = { state: of.state.shown, theme: of.drawn.theme };
  const word = formattedValueToString(state);
  const isWritten = of.isWritten && axisWordWidth(word, theme) + 6 < of.width && of.height > 12;
  const custom = part(of.drawn.panel.fieldConfig.defaults, "custom");
  const opacity = (numberOption(custom, "fillOpacity") ?? 70) / 100;
  const color = state.color ?? theme.colors.text.disabled;
  const place = { position: "absolute", left: of.left, top: of.top, width: of.width, height: of.height } as const;
  return (
    <>
      <div style={{ ...place, background: color, opacity }} />
      {isWritten ? (
        <span
          style={{
            ...place,
            ...axisText(theme),
            lineHeight: `${of.height}px`,
            paddingLeft: 4,
            color: theme.colors.getContrastText(color),
          }}
        >
          {word}
        </span>
      ) : null}
    </>
  );
}
