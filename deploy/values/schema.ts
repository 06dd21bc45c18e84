import { z } from "zod";
import { accessFields } from "./accessSchema.ts";
import { containerPort } from "./containerPort.ts";
import { listOf, textMap } from "./kubernetesPart.ts";
import { prometheusFields } from "./observabilitySchema.ts";
import { imageFields, podFields } from "./podSchema.ts";
import { reviewFields } from "./reviewSchema.ts";

/** What a Service may be called: it is the strictest. */
const nameOrEmpty = z
  .string()
  .regex(/^([a-z]([-a-z0-9]{0,61}[a-z0-9])?)?$/, "expected a name of lower-case letters, digits and -")
  .default("");

/** Everything that can be set when the chart is installed. The source of values.yaml, values.schema.json and the reference. */
export const valuesSchema = z.strictObject({
  global: z
    .looseObject({
      imageRegistry: z
        .string()
        .default("")
        .describe("Registry of all images of a parent chart; comes before `image.registry`."),
    })
    .prefault({})
    .describe("Values that parent charts share."),
  ...imageFields,
  nameOverride: nameOrEmpty.describe("Instead of the chart's name in names and labels."),
  fullnameOverride: nameOrEmpty.describe("Instead of the release's name in names."),
  namespaceOverride: nameOrEmpty.describe("Instead of the release's namespace."),
  customLabels: textMap.default({}).describe("Labels of all objects."),
  replicas: z
    .number()
    .int()
    .min(1)
    .max(5)
    .default(1)
    .describe("Replicas, each with a ledger of its own: 1, or 2 for high availability."),
  config: z
    .record(z.string(), z.unknown())
    .default({})
    .describe(
      "Fairlead's configuration (docs/config.md), checked when the chart is installed. The chart sets `replicas`, `ledger.path` and, with `prices`, `prices.file`.",
    ),
  prices: z
    .record(z.string(), z.unknown())
    .default({})
    .describe("Your own prices (prices.example.yaml); empty: OpenCost or the table of list prices."),
  ...podFields,
  service: z
    .strictObject({
      type: z.enum(["ClusterIP", "NodePort", "LoadBalancer"]).default("ClusterIP").describe("Type of the Service."),
      port: z.number().int().min(1).max(65_535).default(containerPort).describe("Port of the Service."),
      annotations: textMap.default({}).describe("Its annotations."),
    })
    .prefault({})
    .describe("The Service that people and Prometheus ask."),
  persistence: z
    .strictObject({
      enabled: z
        .boolean()
        .default(true)
        .describe("A volume for each replica's ledger. Without it, the ledger ends with the pod."),
      size: z
        .string()
        .default("10Gi")
        .describe(
          "Its size; what a ledger takes: docs/operations.md. Copies of it, and a ledger without a volume, may take as much of the node's disk.",
        ),
      storageClass: z
        .string()
        .default("")
        .describe(
          "Its storage class; empty: the cluster's default. Block storage or a local disk: SQLite's WAL needs locks that NFS does not have.",
        ),
      accessModes: z
        .array(z.enum(["ReadWriteOnce", "ReadWriteOncePod"]))
        .min(1)
        .default(["ReadWriteOnce"])
        .describe("Its access modes."),
      annotations: textMap.default({}).describe("Annotations of the claim."),
    })
    .prefault({})
    .describe("The volume of the ledger."),
  web: z
    .strictObject({
      existingSecret: z
        .string()
        .default("")
        .describe(
          "Secret with `web-config.yml` and the files it names: TLS and users (docs/config.md). Empty: plain HTTP, no users.",
        ),
      tls: z
        .boolean()
        .default(false)
        .describe("Whether that file makes Fairlead speak TLS: probes and Prometheus then do, too."),
    })
    .prefault({})
    .describe("TLS and authentication of Fairlead's own port."),
  ...accessFields,
  podDisruptionBudget: z
    .strictObject({
      enabled: z
        .boolean()
        .default(true)
        .describe("Make one where there is more than one replica: one at a time may be evicted."),
    })
    .prefault({})
    .describe("The PodDisruptionBudget."),
  ...prometheusFields,
  ...reviewFields,
  extraManifests: listOf<Readonly<Record<string, unknown>>>()
    .default([])
    .describe("More manifests that the release installs."),
});

/** What a user gives: it is merged into the defaults, from which `null` takes something away. */
export type GivenValues = Nullable<z.input<typeof valuesSchema>>;

type Nullable<Value> = Value extends readonly unknown[]
  ? Value
  : Value extends object
    ? { readonly [Key in keyof Value]: Nullable<Value[Key]> | null }
    : Value;

/** Values with every default filled in. */
export type Values = z.output<typeof valuesSchema>;
