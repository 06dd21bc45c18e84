import { styleText } from "node:util";

type Style = Parameters<typeof styleText>[0];

/** What is coloured in a line. Each colour repeats what the text says; where several match, the first one counts. */
const rules: readonly (readonly [pattern: string, style: Style])[] = [
  // Headings of sections, and of the whole.
  ["^[A-Z][A-Z]+(?: [A-Z]+)+(?![a-z])", "bold"],
  ["^(?:STEPS|QUESTIONS|ADVICE|Fairlead)\\b", "bold"],
  ["^  error(?= )", "red"],
  ["^  warning(?= )", "yellow"],
  ["^differs .*", "red"],
  ["^ +-> .*", "cyan"],
  // Bars: what is used, what is allocated and wasted, what nobody can use.
  ["█+", "green"],
  ["▓+", "yellow"],
  ["[░▒]+", "red"],
  // Deviations of a table.
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
