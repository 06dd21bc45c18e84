import fc from "fast-check";
import type { GivenValues } from "../../deploy/output/staticFiles.ts";

/** Texts that something on the way could take for something else: YAML of either version, JSON, templates, numbers. */
const misleading = [
  "",
  " ",
  "  leading",
  "trailing ",
  "a: b",
  "- a",
  "# no comment",
  "a #b",
  "'",
  '"',
  "it's",
  '"quoted"',
  "\\",
  "\\n",
  "`",
  "{{ .Values.secret }}",
  "{{",
  "}}",
  "{{- fail `x` -}}",
  "{%",
  "$0",
  "$&",
  "$1",
  "%v",
  "%!s(MISSING)",
  "%",
  "yes",
  "No",
  "on",
  "off",
  "y",
  "n",
  "true",
  "null",
  "~",
  "0o17",
  "012",
  "0x1F",
  "1e3",
  "1_000",
  ".5",
  "+1",
  "-",
  "--",
  "---",
  "...",
  "1:30",
  "190:20:30",
  "2026-11-02",
  "2026-11-02T07:00:00Z",
  ".inf",
  ".nan",
  "=",
  "<<",
  "!!str x",
  "&a",
  "*a",
  "|",
  ">",
  "a\nb",
  "a\n",
  "\na",
  "a\n\n  b\n",
  "\ta",
  "a\tb",
  "a\r\nb",
  "---\na: b\n---\n",
  "ä",
  "日本語",
  "🎛️",
  "?",
  "? a",
  "@",
  "%YAML 1.2",
  "[a]",
  "{a: b}",
  "a,b",
  "<b>&amp;",
  "x".repeat(3000),
  "word ".repeat(300),
  "é".repeat(60),
];

/**
 * Without control characters, which YAML does not have, and without spaces beyond ASCII, which the parser that reads Helm's
 * output here takes for YAML's own.
 */
const isPlain = (text: string): boolean => /^[\t\n\r\x20-\x7e\p{L}\p{M}\p{N}\p{P}\p{S}]*$/u.test(text);
const text = fc
  .oneof(
    { weight: 3, arbitrary: fc.constantFrom(...misleading) },
    fc.string({ unit: "grapheme", maxLength: 40 }).filter(isPlain),
    fc.array(fc.constantFrom(...misleading), { minLength: 2, maxLength: 3 }).map((texts) => texts.join("")),
  )
  // Without numbers that are too large for JavaScript, but texts for Go, which writes them without quotes.
  .filter((given) => Math.abs(Number(given)) !== Number.POSITIVE_INFINITY);
const key = fc.oneof(
  text.filter((name) => name !== "" && name !== "<<" && name.length < 100), // Go writes << as a key as it is
  fc.constantFrom("app.kubernetes.io/name", "release", "helm.sh/chart", "prometheus.io/scrape", "checksum/config", "a"),
);
const texts = fc.dictionary(key, text, { maxKeys: 4, noNullPrototype: true });
const name = fc.stringMatching(/^[a-z]([-a-z0-9]{0,61}[a-z0-9])?$/);
const maybe = <Of>(of: fc.Arbitrary<Of>): fc.Arbitrary<Of | ""> => fc.oneof(fc.constant("" as const), of);
const some = <Model extends object>(model: { [Key in keyof Model]: fc.Arbitrary<Model[Key]> }) =>
  fc.record<Model, never>(model, { requiredKeys: [], noNullPrototype: true });
const port = fc.integer({ min: 1, max: 65_535 });
const flag = fc.boolean();
const auto = fc.constantFrom("auto" as const, true, false);

const config = some({
  cluster: text.filter((given) => given.length >= 1 && given.length <= 100),
  interval: fc.constantFrom(1, 15, 30.5, 600),
  limits: some({ series: fc.integer({ min: 100, max: 1_000_000 }) }),
  teams: fc.array(fc.record({ from: fc.constant("namespace-label"), key: text.filter((given) => given !== "") }), {
    maxLength: 3,
  }),
  gpu: some({ pools: fc.dictionary(key, key, { maxKeys: 3, noNullPrototype: true }) }),
  idle: some({ threshold: fc.double({ min: 0, max: 1, noNaN: true }).map(Math.abs) }),
  clusterAutoscaler: some({ statusConfigMap: some({ namespace: name, name }) }),
  queues: some({ kueue: some({ configMap: fc.record({ namespace: name, name }) }) }),
  ledger: some({ dailyDays: fc.integer({ min: 2, max: 4000 }) }),
});

const entry = fc.record({
  gpuModel: text.filter((given) => given.length >= 1 && given.length <= 253),
  perGpuHour: fc.constantFrom(0.62, 1e-7, 3, 1_000_000),
});
const prices = fc.oneof(
  fc.constant({}),
  fc.record({
    currency: fc.constantFrom("EUR", "y", "no"),
    date: fc.constant("2026-11-02"),
    origin: text.filter((given) => given.length >= 1 && given.length <= 300),
    prices: fc.array(entry, { maxLength: 3 }),
  }),
);

const rules = text.map((expr) =>
  JSON.stringify({
    spec: { groups: [{ name: "own", rules: [{ alert: "Own", expr, annotations: { summary: expr } }] }] },
  }),
);

const object = fc.record({ name, data: texts }).map(({ name: of, data }) => ({
  apiVersion: "v1",
  kind: "Secret",
  metadata: { name: of, namespace: "elsewhere" },
  stringData: data,
}));

/** Values that the chart accepts, with texts that are hard to write. Dashboards and shipped rules are for other tests: they are long. */
export const hardValues: fc.Arbitrary<GivenValues> = some({
  global: some({ imageRegistry: text }),
  image: some({ registry: text, repository: text.filter((given) => given !== ""), tag: text, sha: text }),
  nameOverride: maybe(name),
  fullnameOverride: maybe(name),
  namespaceOverride: maybe(name),
  customLabels: texts,
  replicas: fc.integer({ min: 1, max: 5 }),
  config,
  prices,
  extraArgs: fc.array(text, { maxLength: 3 }),
  env: fc.array(fc.record({ name, value: text }), { maxLength: 3 }),
  nodeSelector: texts,
  tolerations: fc.array(fc.record({ key: text, operator: fc.constant("Exists") }), { maxLength: 2 }),
  resources: fc.constantFrom({ limits: { memory: "9Gi" } }, { requests: { cpu: "1" } }, null),
  priorityClassName: text,
  terminationGracePeriodSeconds: fc.integer({ min: 1, max: 3600 }),
  podAnnotations: texts,
  podLabels: texts,
  annotations: fc.oneof(texts, fc.constant(null)),
  automountServiceAccountToken: flag,
  securityContext: fc.constantFrom({ runAsUser: null }, { runAsUser: 1_000_680_000 }, null),
  service: some({ port, annotations: texts }),
  persistence: some({ enabled: flag, size: text, storageClass: text, annotations: texts }),
  web: some({ existingSecret: text, tls: flag }),
  serviceAccount: some({ create: flag, name: text, annotations: texts }),
  rbac: some({ create: flag, optional: some({ kueue: auto, kai: auto, workloads: auto }) }),
  networkPolicy: some({ enabled: flag, egressPorts: fc.array(port, { maxLength: 4 }) }),
  podDisruptionBudget: some({ enabled: flag }),
  prometheusScrape: flag,
  prometheus: fc.record({
    releaseLabel: text,
    monitor: some({
      enabled: auto,
      namespace: text,
      additionalLabels: texts,
      honorLabels: flag,
      interval: text,
      sampleLimit: fc.nat(),
    }),
    rules: fc.record({ enabled: flag, namespace: text, additionalLabels: texts, content: rules }),
  }),
  dashboards: fc.constant({ enabled: false }),
  review: some({
    enabled: fc.constant(true),
    schedule: text,
    timeZone: text,
    format: fc.constantFrom("html" as const, "markdown" as const, "json" as const, "csv" as const),
    link: text,
    webhook: some({ secretName: text, key: text.filter((given) => given !== "") }),
    user: some({ name: text, secretName: text }),
    caSecret: some({ name: text }),
    persistence: some({ enabled: flag, existingClaim: text, size: text, storageClass: text }),
  }),
  extraManifests: fc.uniqueArray(object, { maxLength: 2, selector: ({ metadata }) => metadata.name }),
}).map((values) => ({ ...values, dashboards: { enabled: false } }));
