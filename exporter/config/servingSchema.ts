import { z } from "zod";
import { prometheusServer } from "./prometheusSchema.ts";

const rule = z.strictObject({
  namespaces: z.array(z.string().min(1)).min(1).describe("Namespaces whose pods with GPUs are asked. No other pod is."),
  matchLabels: z
    .record(z.string(), z.string())
    .default({})
    .describe("Labels that such a pod has; by default every pod with GPUs of these namespaces is asked."),
  annotations: z
    .boolean()
    .default(true)
    .describe(
      'Whether a pod with `prometheus.io/scrape: "true"` is asked at its `prometheus.io/port` and `prometheus.io/path`.',
    ),
  port: z
    .union([z.number().int().min(1).max(65535), z.string().min(1)])
    .optional()
    .describe(
      "Port number, or name of a container port, of pods that have no such annotations; without it, these are not asked.",
    ),
  path: z.string().startsWith("/").max(256).default("/metrics").describe("Path of the page of such pods."),
});

const latencyTarget = z
  .strictObject({
    namespace: z.string().min(1).default("*").describe("Namespace of the workload, in which `*` matches any text."),
    workload: z.string().min(1).default("*").describe("Name of the workload, in which `*` matches any text."),
    firstTokenSeconds: z
      .number()
      .min(0.001)
      .max(86_400)
      .optional()
      .describe("Time until the first token of an answer."),
    perTokenSeconds: z.number().min(0.0001).max(3600).optional().describe("Time from each token to the next."),
    quantile: z
      .number()
      .min(0.5)
      .max(0.999)
      .default(0.95)
      .describe("The part of requests (tokens) of the last five minutes that must be within the target."),
  })
  .refine(
    ({ firstTokenSeconds, perTokenSeconds }) => firstTokenSeconds !== undefined || perTokenSeconds !== undefined,
    {
      message: "a target needs firstTokenSeconds, perTokenSeconds, or both",
    },
  );

/** The settings of a server that is queried for what it scraped from model servers. */
const servingServer = prometheusServer.omit({ nodeLabel: true, scrapeToo: true, maxSampleAgeSeconds: true }).extend({
  maxAnswerBytes: z
    .number()
    .int()
    .min(1024)
    .max(1 << 28)
    .default(64 * 1024 * 1024)
    .describe("A larger answer is refused. One pod takes about 10 kB."),
});

/** The settings of the servers whose requests are read (docs/serving.md). */
export const servingSchema = z.strictObject({
  discovery: z
    .array(rule)
    .default([])
    .describe(
      "Which pods with GPUs are asked for the metrics of their server; the first rule for a pod decides. Empty: none.",
    ),
  prometheus: servingServer
    .optional()
    .describe(
      "A server with Prometheus' HTTP API that scrapes your servers, with the labels `namespace` and `pod` of the pod: it is asked besides. The page of a pod that is asked itself goes first.",
    ),
  monitors: z
    .strictObject({
      enabled: z
        .boolean()
        .default(false)
        .describe(
          "Whether pods of `discovery` without annotations are asked where a PodMonitor or ServiceMonitor of the Prometheus operator says. Needs the right `monitors`.",
        ),
      namespaces: z
        .array(z.string().min(1))
        .default([])
        .describe("Namespaces whose monitors are believed about such pods, besides the pod's own."),
    })
    .prefault({})
    .describe("Monitors of the Prometheus operator."),
  latencyTargets: z
    .array(latencyTarget)
    .default([])
    .describe("Latencies that workloads should keep; the first that matches namespace and name counts."),
  timeoutSeconds: z.number().min(0.1).max(60).default(5).describe("Time within which a whole page must have arrived."),
  maxPageBytes: z
    .number()
    .int()
    .min(1024)
    .max(64 * 1024 * 1024)
    .default(4 * 1024 * 1024)
    .describe("A larger page is refused."),
  concurrency: z.number().int().min(1).max(1024).default(32).describe("Pages that are fetched at the same time."),
});

/** A rule that finds the pages of the pods of some namespaces. */
export type ServingRule = z.infer<typeof rule>;
