import { z } from "zod";

/** The credentials for one address, which are read from files. */
export const auth = z.discriminatedUnion("kind", [
  z.strictObject({ kind: z.literal("none") }).describe("No credentials are sent."),
  z
    .strictObject({
      kind: z.literal("bearer"),
      tokenFile: z.string().min(1).describe("File that holds the token."),
    })
    .describe("A bearer token is sent."),
  z
    .strictObject({
      kind: z.literal("basic"),
      username: z.string().min(1).describe("Name of the user."),
      passwordFile: z.string().min(1).describe("File that holds the password."),
    })
    .describe("Name and password are sent."),
]);

export type Auth = z.infer<typeof auth>;

const labelName = z.string().regex(/^(?!__)[a-zA-Z_][a-zA-Z0-9_]{0,99}$/, "expected the name of a label");
/**
 * The name of a header that neither the connection nor the body nor `auth` decides. The expression has no flags, because the
 * chart's JSON schema contains the pattern alone.
 */
const extraHeader = z
  .string()
  .regex(
    /^(?!(?i:accept|authorization|connection|content-.*|cookie|expect|host|keep-alive|proxy-.*|te|trailer|transfer-encoding|upgrade|user-agent)$)[a-zA-Z0-9-]{1,100}$/,
    "expected the name of a header that is not sent anyway (credentials belong into auth)",
  );

/** The settings of a server that is queried for what it scraped from exporters. */
export const prometheusServer = z.strictObject({
  url: z
    .url({ protocol: /^https?$/ })
    .describe("Address of the server, without `/api/v1`. Parameters after `?` are sent with each request."),
  auth: auth.default({ kind: "none" }).describe("Credentials for this server; never sent elsewhere."),
  caFile: z.string().min(1).optional().describe("CA certificates that sign the server's certificate."),
  insecureSkipVerify: z
    .boolean()
    .default(false)
    .describe("Do not verify the server's certificate. Anyone in between can then invent GPUs."),
  headers: z
    .record(extraHeader, z.string().regex(/^[\x20-\x7e]{1,1000}$/, "expected printable ASCII text"))
    .default({})
    .describe("Headers that are sent along, such as `X-Scope-OrgID` for Mimir."),
  matchers: z
    .record(labelName, z.string().max(200))
    .default({})
    .describe(
      "Labels with the exact values that a series must have (`cluster: harbor`), where a server holds several clusters.",
    ),
  nodeLabel: labelName
    .optional()
    .describe(
      "Label whose value is the node's name. Default: the node of the exporter pod that `namespace`, `pod` or `instance` name, else the exporter's own host label, for nodes on which no exporter pod is known.",
    ),
  timeoutSeconds: z
    .number()
    .min(0.1)
    .max(120)
    .default(20)
    .describe("Time within which a whole answer must have arrived."),
  maxAnswerBytes: z
    .number()
    .int()
    .min(1024)
    .max(1 << 28)
    .default(128 * 1024 * 1024)
    .describe("A larger answer is refused. One GPU takes about 7 kB."),
  maxSampleAgeSeconds: z
    .number()
    .min(15)
    .max(3600)
    .optional()
    .describe("How old a sample may be when it is used. Default: 3 intervals, at least 60 s."),
  scrapeToo: z
    .boolean()
    .default(false)
    .describe(
      "Also scrape the discovered exporters directly. A node whose exporter answers then takes nothing from the server.",
    ),
});
