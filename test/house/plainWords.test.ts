import { execFileSync } from "node:child_process";
import { readdirSync, readFileSync } from "node:fs";
import { expect, test } from "vitest";

const root = new URL("../../", import.meta.url);

const pages = [
  "README.md",
  "CONTRIBUTING.md",
  "SECURITY.md",
  ...["docs", "docs/decisions", "alerts/runbooks"].flatMap((folder) =>
    readdirSync(new URL(`${folder}/`, root)).flatMap((name) => (name.endsWith(".md") ? [`${folder}/${name}`] : [])),
  ),
];

/** Words that mean something in this house alone, with the common ones. */
const houseWords: readonly (readonly [RegExp, string])[] = [
  [/\b(?:side )?books\b|\bbook(?:ed|ing|ings)\b/i, "accounting, ledger tables; accounted for, counted"],
  [/\brooms?\b(?! for)/i, "folder; space, capacity"],
  [/\bfaces\b/i, "outputs"],
  [/(?<!network )\bcards?\b/i, "GPU"],
  [/\bmend(?:s|ed|ing)?\b/i, "fix"],
  [/\btells?\b|\btold\b/i, "report, say, show; distinguish"],
  [/\bin sight\b|\bfirst sight\b/i, "detection"],
  [/\bits life\b|(?<!-)\blives\b|\blife cycle\b/i, "lifecycle, lifetime"],
  [/\bobey(?:s|ed)?\b/i, "apply"],
  [/\bstands?\b|\bstood\b/i, "is, is listed; lasts"],
  [/\bof which\b/i, "whose, where; a sentence of its own"],
  [/\bsomebody\b/i, "the person or thing that is meant"],
];

test.each(pages)("%s is written in common words", (page) => {
  // Code is quoted as it is, and so are labels such as `standing`; some tables are written by scripts.
  const text = readFileSync(new URL(page, root), "utf8")
    .replace(/<!-- (.+?): (?:generated|written) by [\s\S]*?<!-- end of \1 -->/g, "")
    .replace(/```[\s\S]*?```|`[^`\n]*`/g, "");
  const found = text.split("\n").flatMap((line, at) =>
    houseWords.flatMap(([word, better]) => {
      const [match] = word.exec(line) ?? [];
      return match === undefined ? [] : [`line ${at + 1}: "${match}", better: ${better}`];
    }),
  );
  expect(found).toEqual([]);
});

const sources = execFileSync(
  "git",
  ["ls-files", "exporter", "cli", "review", "alerts", "dashboards", "deploy", "simulator", "test"],
  {
    cwd: root,
    encoding: "utf8",
  },
)
  .split("\n")
  .filter((file) => file.endsWith(".ts") && !file.includes("/dist/"));

/** Older versions of the ledger are described in the words of their time. */
const asItWas: ReadonlySet<string> = new Set(["exporter/accounts/ledger/schema.ts"]);

const houseWord =
  "\\b(books?|booked|bookings?|(?<!network )cards?|faces|mend(?:s|ed|ing)?|told|tells?|obeys?|somebody|held idle)\\b";
const comment = new RegExp(`^\\s*(?:\\*|//|/\\*\\*).*${houseWord}`, "i");
const title = new RegExp(`\\b(?:describe|it|test)\\b.*\\(["\`].*${houseWord}.*["\`],`, "i");

test.each([
  ["comment in the code", sources, comment],
  ["title of a test", sources.filter((file) => file.endsWith(".test.ts")), title],
] as const)("no %s has a house word for accounts, GPUs, outputs or fixes", (_what, files, house) => {
  const found = files
    .filter((file) => !asItWas.has(file))
    .flatMap((file) =>
      readFileSync(new URL(file, root), "utf8")
        .split("\n")
        .flatMap((line, at) => (house.test(line) ? [`${file}:${at + 1}: "${house.exec(line)?.[1]}"`] : [])),
    );
  expect(files.length).toBeGreaterThan(400);
  expect(found).toEqual([]);
});

/** Turns of phrase that a reader stumbles over, in comments; "free GPUs, of which 3 are stranded" is good English. */
const bentPhrases: readonly (readonly [RegExp, string])[] = [
  [
    /(?<!,) of which (?:an? |the |one |each |every |it |is |no |none |nobody |nothing |there |must )/,
    "whose, in which, about which",
  ],
  [/\/\*\* (?:(?:At|After|In|Of|For|To|Up to|Beyond|By) (?:most )?)?[Ss]o (?:many|much)\b/, "the most ..., this many"],
  [/\b(?:says|say|said) of (?:a|an|the|it|its|itself|one|each|them|this|nodes|all)\b/, "reports about, shows about"],
  [/\bthat (?:it|they|he) (?:is|are) of\b/, "that it belongs to"],
];

test("no comment in the code has a bent turn of phrase", () => {
  const comment = /^\s*(?:\/\*\*|\*|\/\/)/;
  const found = sources
    .filter((file) => !asItWas.has(file))
    .flatMap((file) =>
      readFileSync(new URL(file, root), "utf8")
        .split("\n")
        .flatMap((line, at) =>
          comment.test(line)
            ? bentPhrases.flatMap(([phrase, better]) => {
                const [match] = phrase.exec(line) ?? [];
                return match === undefined ? [] : [`${file}:${at + 1}: "${match.trim()}", better: ${better}`];
              })
            : [],
        ),
    );
  expect(found).toEqual([]);
});
