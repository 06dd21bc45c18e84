import { dateTimeFormat, type GrafanaTheme2 } from "@grafana/data";

const hour = 3_600_000;
const spans = [hour / 6, hour / 2, hour, 3 * hour, 6 * hour, 12 * hour, 24 * hour, 48 * hour, 168 * hour];

/** Height of the axis of time under a chart, in pixels. */
export const timeAxisHeight = 20;

/** Times at which an axis is marked: round ones, at least 80 px apart. */
function ticks(from: number, to: number, width: number): readonly number[] {
  const least = ((to - from) / Math.max(1, width)) * 80;
  const span = spans.find((one) => one >= least) ?? 672 * hour;
  const first = Math.ceil(from / span) * span;
  return Array.from({ length: Math.max(0, Math.floor((to - first) / span) + 1) }, (_, i) => first + i * span);
}

/** An axis of time, in UTC. */
export function TimeAxis(of: {
  from: number;
  to: number;
  left: number;
  width: number;
  top: number;
  theme: GrafanaTheme2;
}) {
  const format = of.to - of.from > 26 * hour ? "MM/DD" : "HH:mm";
  const withHours = of.to - of.from > 26 * hour && of.to - of.from < 96 * hour ? "MM/DD HH:mm" : format;
  return (
    <>
      {ticks(of.from, of.to, of.width).map((at) => {
        const middle = of.left + ((at - of.from) / (of.to - of.from)) * of.width;
        const left = Math.min(Math.max(of.left, middle - 40), of.left + of.width - 80);
        const style = {
          position: "absolute",
          left,
          width: 80,
          top: of.top,
          textAlign: "center",
          ...axisText(of.theme),
        } as const;
        return (
          <span key={at} style={style}>
            {dateTimeFormat(at, { format: withHours, timeZone: "utc" })}
          </span>
        );
      })}
    </>
  );
}

/** The style of the words of an axis. */
export function axisText(theme: GrafanaTheme2) {
  return {
    fontSize: 12,
    lineHeight: `${timeAxisHeight}px`,
    color: theme.colors.text.primary,
    whiteSpace: "nowrap",
  } as const;
}

const context = document.createElement("canvas").getContext("2d");

/** The width of a word on an axis, in pixels. */
export function axisWordWidth(word: string, theme: GrafanaTheme2): number {
  if (context === null) return word.length * 7;
  context.font = `12px ${theme.typography.fontFamily}`;
  return context.measureText(word).width;
}

/** The height of a legend below a chart, in pixels: as many lines of 22 px as its words need, at most four. */
export function legendHeightFor(words: readonly string[], width: number, theme: GrafanaTheme2): number {
  const long = words.reduce((sum, word) => sum + axisWordWidth(word, theme) + 34, 0);
  return words.length === 0 ? 0 : 4 + 22 * Math.min(4, Math.ceil(long / Math.max(1, width - 40)));
}
