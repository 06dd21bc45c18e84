/** Numbers of 0..1, the same for the same seed (mulberry32). */
export type Random = () => number;

export function randomOf(seed: number): Random {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4_294_967_296;
  };
}

/** A whole number from 0 up to `end`, exclusive. */
export function below(random: Random, end: number): number {
  return Math.floor(random() * end);
}

export function pick<T>(random: Random, list: readonly [T, ...T[]]): T {
  return list[below(random, list.length)] ?? list[0];
}

type Mutation = (page: Buffer, random: Random) => Buffer;

/** Bytes that mean something in the format, or break it. */
const reportingBytes = '{}",=\\# \t\r\n0e+-.NID_:\u0000\u007f\u00ff';
/** Values that exporters wrote, or that are hard to read. */
export const oddValues = [
  "NaN",
  "+Inf",
  "-Inf",
  "-0",
  "0",
  "1e400",
  "-1e-400",
  "1.2e+07",
  "5.",
  ".5",
  ".",
  "-",
  "",
  "0x10",
  "1_000",
  "9223372036854775794",
  "140737488355328.000000",
  "2147483632",
  "4294967295",
  "000000000000000000001",
  "1.0000000000000000001",
  "123456789012345",
  "1234567890123456",
  "0.1234567890123456789",
  "ERROR - FAILED TO CONVERT TO STRING",
  "91 1772476205739",
  '91 # {trace="x"} 1',
  "91 12 13",
  "91\t",
  "  91",
  "91\r",
  "7".repeat(500),
  `0.${"3".repeat(90)}`,
] as const;
const labels = [
  'pod="a\\"b"',
  'pod="} 5"',
  'pod="a\\nb"',
  'pod="\\\\"',
  'pod="',
  'pod=""',
  'pod="p",namespace="n",vgpu="1"',
  'vgpu="2"',
  'UUID="GPU-0"',
  'UUID=""',
  'GPU_I_ID="1",GPU_I_PROFILE="1g.5gb"',
  'GPU_I_ID="13"',
  'Hostname="elsewhere"',
  '__proto__="x"',
  'nvlink="3"',
  'exported_pod="e",exported_namespace="n"',
  'dra_claim_name="c",dra_claim_namespace="n"',
  'err_code="79"',
  'pod_uid="u"',
  `pod="${"x".repeat(5000)}"`,
  Array.from({ length: 300 }, (_unused, index) => `l${index}="v"`).join(","),
] as const;
const names = [
  "DCGM_FI_DEV_GPU_UTIL",
  "DCGM_FI_DEV_FB_USED",
  "DCGM_FI_DEV_POWER_USAGE",
  "DCGM_FI_DEV_SM_CLOCK",
  "dcgm_gpu_temp",
  "go_goroutines",
  "DCGM_FI_DEV_GPU_UTIL_",
  "DCGM",
  "é",
  "DCGM_FI_DEV_TOTAL_ENERGY_CONSUMPTION",
  "DCGM_FI_",
] as const;

const onLines =
  (change: (lines: string[], random: Random) => void): Mutation =>
  (page, random) => {
    const lines = page.toString("latin1").split("\n");
    change(lines, random);
    return Buffer.from(lines.join("\n"), "latin1");
  };

const onEachLine =
  (change: (random: Random) => (line: string) => string): Mutation =>
  (page, random) =>
    Buffer.from(page.toString("latin1").split("\n").map(change(random)).join("\n"), "latin1");

const onLine = (change: (line: string, random: Random) => string): Mutation =>
  onLines((lines, random) => {
    const at = below(random, lines.length);
    lines[at] = change(lines[at] ?? "", random);
  });

const mutations: readonly [Mutation, ...Mutation[]] = [
  (page, random) => {
    const changed = Buffer.from(page);
    for (let count = 1 + below(random, 8); count > 0 && changed.length > 0; count -= 1) {
      const at = below(random, changed.length);
      changed[at] = (changed[at] ?? 0) ^ (1 << below(random, 8));
    }
    return changed;
  },
  (page, random) => {
    const at = below(random, page.length + 1);
    return Buffer.concat([
      page.subarray(0, at),
      Buffer.from(reportingBytes.charAt(below(random, reportingBytes.length)), "latin1"),
      page.subarray(at),
    ]);
  },
  (page, random) => page.subarray(0, below(random, page.length + 1)),
  (page, random) => {
    const [one, other, to] = [
      below(random, page.length + 1),
      below(random, page.length + 1),
      below(random, page.length + 1),
    ];
    const part = page.subarray(Math.min(one, other), Math.min(Math.max(one, other), Math.min(one, other) + 2000));
    return Buffer.concat([page.subarray(0, to), part, page.subarray(to)]);
  },
  (page, random) => {
    const from = below(random, page.length + 1);
    return Buffer.concat([page.subarray(0, from), page.subarray(from + below(random, 400))]);
  },
  onLines((lines, random) => lines.splice(below(random, lines.length), 1 + below(random, 4))),
  onLines((lines, random) => {
    const at = below(random, lines.length);
    lines.splice(below(random, lines.length), 0, ...lines.slice(at, at + 1 + below(random, 12)));
  }),
  onLines((lines, random) => {
    for (let at = lines.length - 1; at > 0; at -= 1) {
      const other = below(random, at + 1);
      [lines[at], lines[other]] = [lines[other] ?? "", lines[at] ?? ""];
    }
  }),
  onLines((lines) => lines.splice(0, lines.length, ...lines.filter((line) => !line.startsWith("#")))),
  onEachLine(() => (line) => `${line}\r`),
  onEachLine((random) => (line) => (line.startsWith("#") ? line : `${line} ${below(random, 1e9)}`)),
  onEachLine((random) => (line) => line.replace(/ [\d.]+$/, () => ` ${below(random, 100)}`)),
  onEachLine((random) => {
    const [from, to] = [below(random, 10), below(random, 4)];
    return (line) => line.replace(new RegExp(`UUID="[^"]*${from}"`, "i"), () => `UUID="GPU-${to}"`);
  }),
  onEachLine((random) => {
    const to = `pod="p-${below(random, 5)}"`;
    return (line) => (random() < 0.3 ? line.replace(/pod="[^"]*"/, to) : line);
  }),
  onLine((line, random) => line.replace(/\}.*$/s, () => `} ${pick(random, oddValues)}`)),
  onLine((line, random) => line.replace("{", () => `{${pick(random, labels)},`)),
  onLine((line, random) => line.replace(/\}[^}]*$/, (tail) => `,${pick(random, labels)}${tail}`)),
  onLine((line, random) => line.replace(/^[^{ ]*/, () => pick(random, names))),
  onLine((line, random) =>
    line.replace(/\{.*\}/s, () => pick(random, ["", "{}", "{,}", "{", "}", '{UUID="GPU-7"}', " "])),
  ),
  onLine(
    (line, random) =>
      `${pick(random, [" ", "\t", "  ", "# "])}${line.replaceAll(",", pick(random, [",", ", ", ",,", " "]))}`,
  ),
  onLine((line, random) => line + " ".repeat(pick(random, [1, 40, 63, 64, 65, 66_000]))),
  onLine((line) => line.replace("{", `{long="${"y".repeat(66_000)}",`)),
];

/** The page after one to four accidents. */
export function mutated(page: Buffer, random: Random): Buffer {
  let changed = page;
  for (let count = 1 + below(random, 4); count > 0; count -= 1) changed = pick(random, mutations)(changed, random);
  return changed;
}
