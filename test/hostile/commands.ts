import type { CommandCase } from "./hostileCase.ts";

const help = "Next step: fairlead --help lists the commands, fairlead COMMAND --help their options.";
const settings =
  "expected one of cluster, interval, replicas, kubernetes, dcgm, teams, queues, gpu, idle, serving, clusterAutoscaler, prices, cost, placement, advice, digest, history, limits, ledger, web, otlp";
const bomb = `a: &a [${Array(10).fill(1).join()}]\nb: &b [${Array(10).fill("*a").join()}]\nc: [${Array(12).fill("*b").join()}]\n`;

/** A configuration with one file's text, and what check-config says about it. */
function bad(name: string, text: string, ...errors: readonly string[]): CommandCase {
  const count = errors.length === 1 ? "1 error" : `${errors.length} errors`;
  return {
    name,
    files: { "c.yaml": text },
    args: ["check-config", "DIR/c.yaml"],
    code: 1,
    says: [
      `fairlead: configuration DIR/c.yaml has ${count}`,
      ...errors,
      "Nothing was started. Check with: fairlead check-config DIR/c.yaml",
    ],
  };
}

export const configCases: readonly CommandCase[] = [
  bad("an unknown key", "intervall: 30\n", 'intervall: unknown setting, did you mean "interval"?'),
  bad("a wrong type", "interval: often\n", 'interval: found "often", expected a number'),
  bad(
    "several errors at once",
    "interval: -1\ncluster: 7\nteams: yes\nfoo: 1\n",
    "cluster: found 7, expected text",
    "interval: found -1, expected at least 1",
    'teams: found "yes", expected a list',
    `foo: unknown setting, ${settings}`,
  ),
  bad("a key twice", "cluster: a\ncluster: b\n", 'line 2, column 1: "cluster" is given twice, expected once'),
  bad("a tab", "gpu:\n\tresources: {}\n", "line 2, column 1: Tabs are not allowed as indentation"),
  bad("a list", "- a\n", "found a list, expected a map of settings"),
  bad("a number", "5\n", "found 5, expected a map of settings"),
  bad("a web page", "<html>\n", 'found "<html>", expected a map of settings'),
  bad("a key __proto__", "__proto__:\n  interval: 5\n", `__proto__: unknown setting, ${settings}`),
  bad("an escape in a key", '"clu\\u001b[31mster": x\n', `["clu\\u001b[31mster"]: unknown setting, ${settings}`),
  bad("an escape in a value", 'interval: "\\u001b[2Jx"\n', 'interval: found "\\u001b[2Jx", expected a number'),
  bad(
    "a file of 2 MB",
    "# x\n".repeat(600_000),
    "the file is larger than 1 MiB (2400000 bytes), expected a smaller file",
  ),
  bad("a bomb of anchors", bomb, "the file uses its anchors more than 100 times, expected fewer: write the values out"),
  bad(
    "two documents",
    "cluster: a\n---\ncluster: b\n",
    "line 2, column 1: a second document begins here, expected one",
  ),
  bad("an anchor that is not set", "cluster: *nope\n", "the file is not valid YAML: Unresolved alias"),
  bad(
    "a rule without source",
    "teams:\n  - match: 3\n",
    "teams[0].from: missing, expected one of namespace-label, namespace-annotation, queue, namespace,",
  ),
  bad(
    "a kubeconfig that is not there",
    "kubernetes: {kubeconfig: none.conf}\n",
    "kubernetes.kubeconfig: none.conf does not exist (looked in the folder of c.yaml)",
  ),
  {
    name: "a control character in a valid value",
    files: { "c.yaml": "cluster: \u0000x\n" },
    args: ["check-config", "DIR/c.yaml"],
    code: 0,
    says: ["fairlead: configuration DIR/c.yaml is valid", "cluster \\u0000x, a cycle every 30 s"],
  },
  {
    name: "a configuration that is not there",
    args: ["check-config", "DIR/none.yaml"],
    code: 1,
    says: ["the file does not exist; write one, or leave the option out to use the defaults"],
  },
  {
    name: "a folder for a configuration",
    args: ["check-config", "DIR"],
    code: 1,
    says: ["fairlead: configuration DIR has 1 error", "the file is not a file, expected a YAML file"],
  },
];

const usage = (name: string, args: readonly string[], ...says: readonly string[]): CommandCase => ({
  name,
  args,
  code: 2,
  says: [...says, help],
});
const invalid = (option: string, value: string, why: string): string =>
  `fairlead: option '${option}' argument '${value}' is invalid. ${why}`;

const kubeconfig = `apiVersion: v1
kind: Config
current-context: c
clusters: [{name: c, cluster: {server: "http://127.0.0.1:1"}}]
contexts: [{name: c, context: {cluster: c, user: u}}]
users: [{name: u, user: {}}]
`;
const kubernetes = { "k.conf": kubeconfig, "k.yaml": "kubernetes: {kubeconfig: k.conf}\n" };
const serve = ["serve", "--config.file", "DIR/k.yaml"];
const addresses = "Expected :PORT or HOST:PORT, such as 127.0.0.1:10836.";
const inspectNext = "Next step: give a folder with *.prom pages and kubectl get -o json|yaml files.";
const dumpNext =
  "Next step: take a dump as docs/inspect.md says: kubectl get KIND -A -o json for each kind, curl NODE:9400/metrics for each GPU node.";

export const commandCases: readonly CommandCase[] = [
  usage("an unknown command", ["frobnicate"], "fairlead: unknown command 'frobnicate'"),
  usage("a misspelt command", ["inspekt"], "fairlead: unknown command 'inspekt'", "(Did you mean inspect?)"),
  usage("an escape in a command", ["serv\u001b[31me"], "fairlead: unknown command 'serv\\u001b[31me'"),
  usage("an unknown option", ["--nope"], "fairlead: unknown option '--nope'"),
  usage(
    "a misspelt option",
    ["inspect", "--outptu", "json", "DIR"],
    "unknown option '--outptu'",
    "(Did you mean --output?)",
  ),
  usage("no file to check", ["check-config"], "fairlead: missing required argument 'file'"),
  usage("no path to inspect", ["inspect"], "fairlead: missing required argument 'path'"),
  usage(
    "two files to check",
    ["check-config", "a", "b"],
    "too many arguments for 'check-config'. Expected 1 argument but got 2",
  ),
  usage(
    "a bad output",
    ["inspect", "--output", "xml", "DIR"],
    invalid("-o, --output <format>", "xml", "Allowed choices are table, json."),
  ),
  usage(
    "a negative seed",
    ["demo", "--seed", "-3"],
    invalid("--seed <number>", "-3", "Expected a whole number from 0 on."),
  ),
  usage(
    "a word as speed",
    ["demo", "--speed", "fast"],
    invalid("--speed <factor>", "fast", "Expected a number from 0.1 to 1000."),
  ),
  usage(
    "NaN as speed",
    ["demo", "--speed", "NaN"],
    invalid("--speed <factor>", "NaN", "Expected a number from 0.1 to 1000."),
  ),
  usage(
    "a bad address for the demo",
    ["demo", "--web.listen-address", "nope"],
    invalid("--web.listen-address <address>", "nope", addresses),
  ),
  usage(
    "a bad log level",
    ["serve", "--log.level", "loud"],
    invalid("--log.level <level>", "loud", "Allowed choices are debug, info, warn, error."),
  ),
  usage(
    "a bad log format",
    ["serve", "--log.format", "xml"],
    invalid("--log.format <format>", "xml", "Allowed choices are json, pretty."),
  ),
  usage(
    "a bad path of metrics",
    ["serve", "--web.telemetry-path", "metrics"],
    invalid("--web.telemetry-path <path>", "metrics", "Expected a path that begins with /, such as /metrics."),
  ),
  usage(
    "a bad listen address",
    [...serve, "--web.listen-address", "nope"],
    invalid("--web.listen-address <address>", "nope", addresses),
  ),
  usage(
    "a port out of range",
    [...serve, "--web.listen-address", ":99999"],
    invalid("--web.listen-address <address>", ":99999", addresses),
  ),
  usage(
    "an option without its file",
    ["serve", "--config.file"],
    "fairlead: option '--config.file <file>' argument missing",
  ),
  ...["yesterday", "2026-99-99", "\u001b[31m"].map(
    (at): CommandCase => ({
      name: `the moment ${JSON.stringify(at)}`,
      args: ["inspect", "--at", at, "DIR"],
      code: 2,
      says: [
        `fairlead: --at: found ${JSON.stringify(at)}, expected a time such as 2026-11-20T14:00:00Z or seconds since 1970`,
        "Next step: leave --at out to take the time from the dump.",
      ],
    }),
  ),
  {
    name: "a path that is not there",
    args: ["inspect", "DIR/none"],
    code: 1,
    says: ["fairlead: DIR/none does not exist or cannot be read", inspectNext],
  },
  {
    name: "a path with an escape",
    args: ["inspect", "DIR/no\u001b[31m"],
    code: 1,
    says: ["fairlead: DIR/no\\u001b[31m does not exist or cannot be read", inspectNext],
  },
  {
    name: "a folder without a dump",
    files: { "x.txt": "a" },
    args: ["inspect", "DIR"],
    code: 1,
    says: ["fairlead: no *.prom, *.json or *.yaml file in DIR", dumpNext],
  },
  {
    name: "a bad configuration for inspect",
    files: { "c.yaml": "a: 1\n" },
    args: ["inspect", "--config.file", "DIR/c.yaml", "DIR"],
    code: 1,
    says: ["fairlead: configuration DIR/c.yaml has 1 error", "a: unknown setting"],
  },
  {
    name: "a trace that is not there",
    args: ["demo", "--once", "--trace", "DIR/none"],
    code: 1,
    says: ["fairlead: the trace file DIR/none/openb/openb_node_list_gpu_node.csv does not exist", "Next step: "],
  },
  {
    name: "serve without its configuration",
    args: ["serve", "--config.file", "DIR/none.yaml"],
    code: 1,
    says: ["fairlead: configuration DIR/none.yaml has 1 error", "the file does not exist", "Nothing was started."],
  },
  {
    name: "serve with a bad configuration",
    files: { "c.yaml": "interval: -1\n" },
    args: ["serve", "--config.file", "DIR/c.yaml"],
    code: 1,
    says: ["interval: found -1, expected at least 1", "Nothing was started."],
  },
  {
    name: "serve with a bad web configuration",
    files: { ...kubernetes, "web.yaml": "tls_server_config: {cert_file: no.pem}\nfoo: 1\n" },
    args: [...serve, "--web.config.file", "DIR/web.yaml"],
    code: 1,
    says: [
      "fairlead: configuration DIR/web.yaml has 3 errors",
      "tls_server_config.key_file: missing, expected text",
      "foo: unknown setting, expected one of tls_server_config, basic_auth_users",
      "tls_server_config.cert_file: no.pem does not exist (looked in the folder of web.yaml)",
    ],
  },
  {
    name: "serve with a kubeconfig that is no YAML, without quoting its secrets",
    files: { ...kubernetes, "k.conf": "token: hunter2\ntoken: hunter3\n" },
    args: serve,
    code: 1,
    says: ["fairlead: Credentials for the Kubernetes API cannot be used: duplicated mapping key (2:1) Next step: "],
  },
];
