import { styleText } from "node:util";

/** The terminal that a text is for, and how its reader calls Fairlead. */
export interface Terminal {
  /** Characters in a line; texts are made for 80 to 200. */
  readonly columns: number;
  /** Whether colours and bold letters are understood and wanted. They only repeat what the text says. */
  readonly hasColours: boolean;
  /** How the reader types `fairlead`: `npx fairlead` in a clone. */
  readonly program: string;
  /** The flags that `explain` and `advise` need to answer about the same cluster, with a blank before them: ` --dump=DIR`. */
  readonly source: string;
}

/** The terminal for a file or a pipe: 100 columns, no colours, and an installed program that asks a running exporter. */
export const plainTerminal: Terminal = { columns: 100, hasColours: false, program: "fairlead", source: "" };

/** A line that is folded where a terminal is too narrow for it; it goes on below at an indent. */
interface LongLine {
  readonly text: string;
  readonly indent: string;
}

/** A line of a text for a terminal; a plain string is never folded. */
export type Line = string | LongLine;

/** One line that may be folded at its blanks. */
export const fold = (text: string, indent: string): readonly LongLine[] => [{ text, indent }];

/** The lines of the first of many items, and a line about how many more `--output json` has. */
export function firstOf<Item>(
  all: readonly Item[],
  most: number,
  linesOf: (one: Item) => readonly Line[],
  noun = "",
): readonly Line[] {
  const hidden = all.length - most;
  return [
    ...all.slice(0, most).flatMap(linesOf),
    ...(hidden > 0 ? [`  and ${hidden} more${noun}: --output json lists all of them`] : []),
  ];
}

/** The finished text: commands as the reader types them, long lines folded, colours where they are wanted. */
export function layOut(lines: readonly Line[], terminal: Terminal): string {
  return lines
    .flatMap((line) =>
      typeof line === "string"
        ? [typeable(line, terminal)]
        : folded(typeable(line.text, terminal), line.indent, terminal.columns),
    )
    .map((line) => (terminal.hasColours ? styled(line) : line))
    .join("\n");
}

/** Replaces the commands in a text by those that its reader can type. */
export function typeable(text: string, { program, source }: Terminal): string {
  return text.replace(
    /(?<![\w./-])fairlead (explain|advise|serve|demo|inspect|ledger|review|price|alerts|dashboards|check-config|top|waterfall)\b/g,
    (_, command: string) => `${program} ${command}${command === "explain" || command === "advise" ? source : ""}`,
  );
}

function folded(line: string, indent: string, columns: number): readonly string[] {
  const lines: string[] = [];
  let rest = line;
  while (rest.length > columns) {
    const at = rest.lastIndexOf(" ", columns);
    const cut = at > indent.length + 10 ? at : columns;
    lines.push(rest.slice(0, cut).trimEnd());
    rest = `${indent}${rest.slice(cut).trimStart()}`;
  }
  return [...lines, rest];
}

type Style = Parameters<typeof styleText>[0];

/** The parts of a line that are coloured. Each colour repeats what the text says; where several match, the first one counts. */
const rules: readonly (readonly [pattern: string, style: Style])[] = [
  // These are headings of sections, and of the whole text.
  ["^[A-Z][A-Z]+(?: [A-Z]+)+(?![a-z])", "bold"],
  ["^(?:STEPS|QUESTIONS|ADVICE|Fairlead)\\b", "bold"],
  ["^  error(?= )", "red"],
  ["^  warning(?= )", "yellow"],
  ["^differs .*", "red"],
  ["^ +-> .*", "cyan"],
  // These are bars: what is used, what is allocated and wasted, and what nobody can use.
  ["█+", "green"],
  ["▓+", "yellow"],
  ["[░▒]+", "red"],
  // These are deviations in a table.
  ["(?<=  )-\\d[\\d.]*(?=  )", "red"],
  ["(?<=  )\\+\\d[\\d.]*(?=  )", "yellow"],
];

const anyRule = new RegExp(rules.map(([pattern]) => `(${pattern})`).join("|"), "gu");

/** One line with colours and bold letters for a terminal that understands them; its text stays the same. */
export function styled(line: string): string {
  return line.replace(anyRule, (text: string, ...groups: readonly unknown[]) => {
    const rule = rules[groups.findIndex((group) => group !== undefined)];
    return rule === undefined ? text : styleText(rule[1], text, { validateStream: false });
  });
}
