/** A line of a plot: y over x. */
export interface PlotLine {
  readonly name: string;
  readonly points: readonly { readonly x: number; readonly y: number }[];
}

/** A bar of a plot, with an optional half width of its interval. */
export interface PlotBar {
  readonly name: string;
  readonly value: number;
  readonly half?: number;
}

const width = 880;
const left = 400;
const colors = ["#3274a1", "#e1812c", "#3a923a", "#c03d3e", "#9372b2", "#845b53"] as const;

const escaped = (text: string): string => text.replaceAll("&", "&amp;").replaceAll("<", "&lt;").replaceAll(">", "&gt;");
const at = (value: number): string => value.toFixed(1);

/** The frame of a picture with a title that screen readers read; dark enough on white and on black. */
function picture(title: string, height: number, content: string): string {
  return `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${width} ${height}" role="img" aria-label="${escaped(title)}" font-family="sans-serif" font-size="12">
<title>${escaped(title)}</title>
<rect width="${width}" height="${height}" fill="#ffffff"/>
<text x="10" y="20" font-size="14">${escaped(title)}</text>
${content}
</svg>
`;
}

/** Horizontal bars from `from` to the largest value, one below the other. Pure. */
export function barPlot(
  title: string,
  bars: readonly PlotBar[],
  from: number,
  words: (value: number) => string,
): string {
  const most = Math.max(...bars.map(({ value, half = 0 }) => value + half), from + 1e-9);
  const x = (value: number): number => left + ((Math.max(value, from) - from) / (most - from)) * (width - left - 90);
  const content = bars
    .map(({ name, value, half = 0 }, index) => {
      const y = 36 + index * 20;
      const whisker =
        half === 0
          ? ""
          : `<path d="M${at(x(value - half))} ${y + 7}H${at(x(value + half))}" stroke="#222222" stroke-width="1.5"/>`;
      return `<text x="${left - 8}" y="${y + 11}" text-anchor="end">${escaped(name)}</text><rect x="${left}" y="${y}" width="${at(x(value) - left)}" height="14" fill="${colors[0]}"/>${whisker}<text x="${at(x(value + half) + 6)}" y="${y + 11}">${escaped(words(value))}</text>`;
    })
    .join("\n");
  return picture(title, 46 + bars.length * 20, content);
}

/** A plot of lines. */
export interface LinePlot {
  readonly title: string;
  readonly xTitle: string;
  readonly yTitle: string;
  /** The marks of the x axis. */
  readonly marks: readonly { readonly x: number; readonly name: string }[];
  readonly lines: readonly PlotLine[];
}

/** Lines over a common x, with a legend. Pure. */
export function linePlot({ title, xTitle, yTitle, marks, lines }: LinePlot): string {
  const [top, bottom, start, end] = [40, 300, 60, width - 180];
  const points = lines.flatMap((line) => line.points);
  const xs = points.map(({ x }) => x);
  const [least, most] = [Math.min(...xs), Math.max(...xs)];
  const highest = Math.max(...points.map(({ y }) => y), 1e-9);
  const px = (x: number): number => start + ((x - least) / Math.max(most - least, 1e-9)) * (end - start);
  const py = (y: number): number => bottom - (Math.max(0, y) / highest) * (bottom - top);
  const xMarks = marks.map(
    ({ x, name }) => `<text x="${at(px(x))}" y="${bottom + 16}" text-anchor="middle">${escaped(name)}</text>`,
  );
  const yMarks = [0, 0.25, 0.5, 0.75, 1].map((part) => {
    const y = at(py(part * highest) + 4);
    return `<text x="${start - 6}" y="${y}" text-anchor="end">${(part * highest).toFixed(0)}</text><path d="M${start} ${at(py(part * highest))}H${end}" stroke="#dddddd"/>`;
  });
  const drawn = lines.map(({ name, points: own }, index) => {
    const color = colors[index % colors.length];
    const path = own.map(({ x, y }, i) => `${i === 0 ? "M" : "L"}${at(px(x))} ${at(py(y))}`).join("");
    const legend = `<rect x="${end + 12}" y="${44 + index * 18}" width="10" height="10" fill="${color}"/><text x="${end + 27}" y="${53 + index * 18}">${escaped(name)}</text>`;
    return `<path d="${path}" fill="none" stroke="${color}" stroke-width="2"/>${legend}`;
  });
  const titles = `<text x="${(start + end) / 2}" y="${bottom + 34}" text-anchor="middle">${escaped(xTitle)}</text><text x="10" y="34">${escaped(yTitle)}</text>`;
  return picture(title, bottom + 44, [...yMarks, ...xMarks, ...drawn, titles].join("\n"));
}
