import { createServer, type IncomingHttpHeaders, type ServerResponse } from "node:http";
import path from "node:path";
import { gunzipSync } from "node:zlib";
import protobuf from "protobufjs";
import { z } from "zod";

const protocol = protobuf.loadSync(path.join(import.meta.dirname, "otlp.proto"));
const attributes = z
  .array(z.object({ key: z.string(), value: z.record(z.string(), z.union([z.string(), z.number(), z.boolean()])) }))
  .default([])
  .transform((all) => new Map(all.map(({ key, value }) => [key, Object.values(value)[0]] as const)));
const resource = z.object({ attributes });
const scope = z.object({ name: z.string(), version: z.string() });
const nanos = z.string().default("0").transform(Number);
/** Infinity is a number to OTLP, but not to `z.number()`. */
const double = z.union([z.number(), z.literal(Number.POSITIVE_INFINITY)]);
const points = z.array(z.object({ attributes, asDouble: double, startTimeUnixNano: nanos, timeUnixNano: nanos }));
const histogramPoints = z.array(
  z.object({
    attributes,
    startTimeUnixNano: nanos,
    timeUnixNano: nanos,
    count: nanos,
    sum: z.number(),
    bucketCounts: z.array(z.string().transform(Number)),
    explicitBounds: z.array(z.number()),
  }),
);
const metric = z.object({
  name: z.string(),
  description: z.string(),
  unit: z.string().default(""),
  gauge: z.object({ dataPoints: points }).optional(),
  sum: z.object({ dataPoints: points, aggregationTemporality: z.number(), isMonotonic: z.boolean() }).optional(),
  histogram: z.object({ dataPoints: histogramPoints, aggregationTemporality: z.number() }).optional(),
});
const metricsRequest = z.object({
  resourceMetrics: z.array(
    z.object({ resource, scopeMetrics: z.array(z.object({ scope, metrics: z.array(metric) })) }),
  ),
});
const span = z.object({
  traceId: z.string(),
  spanId: z.string(),
  parentSpanId: z.string().default(""),
  name: z.string(),
  attributes,
  events: z.array(z.object({ name: z.string(), attributes })).default([]),
  status: z.object({ code: z.number().default(0), message: z.string().default("") }).prefault({}),
});
const traceRequest = z.object({
  resourceSpans: z.array(z.object({ resource, scopeSpans: z.array(z.object({ scope, spans: z.array(span) })) })),
});

export type ReceivedMetric = z.output<typeof metric>;
export type ReceivedSpan = z.output<typeof span>;

/** One request as it arrived. */
export interface ReceivedRequest {
  readonly path: string;
  readonly headers: IncomingHttpHeaders;
  readonly body: Buffer;
}

/** An OTLP/HTTP endpoint in this process, which decodes with protobuf.js. */
export interface Receiver {
  readonly url: string;
  readonly requests: ReceivedRequest[];
  /** How requests are answered from now on. */
  answer(how: (response: ServerResponse, request: ReceivedRequest) => void): void;
  close(): Promise<void>;
}

export const accept = (response: ServerResponse): void => {
  response.writeHead(200, { "content-type": "application/x-protobuf" }).end();
};

export async function startReceiver(): Promise<Receiver> {
  let respond: (response: ServerResponse, request: ReceivedRequest) => void = accept;
  const requests: ReceivedRequest[] = [];
  const server = createServer(async (request, response) => {
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(Buffer.from(chunk));
    const body = Buffer.concat(chunks);
    const zipped = request.headers["content-encoding"] === "gzip";
    const received = { path: request.url ?? "", headers: request.headers, body: zipped ? gunzipSync(body) : body };
    requests.push(received);
    respond(response, received);
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const address = server.address();
  if (typeof address !== "object" || address === null) throw new Error("no port");
  return {
    url: `http://127.0.0.1:${address.port}`,
    requests,
    answer: (how) => {
      respond = how;
    },
    close: () =>
      new Promise((resolve) => {
        server.closeAllConnections();
        server.close(() => resolve());
      }),
  };
}

function decode(type: string, body: Uint8Array): unknown {
  const decoder = protocol.lookupType(type);
  return decoder.toObject(decoder.decode(body), { longs: String, bytes: String, arrays: false });
}

/** Metrics of a request, with the attributes of the resource that sent them. */
export function metricsOf(request: ReceivedRequest) {
  const { resourceMetrics } = metricsRequest.parse(decode("MetricsRequest", request.body));
  return {
    resource: new Map(resourceMetrics.flatMap((one) => [...one.resource.attributes])),
    scopes: resourceMetrics.flatMap((one) => one.scopeMetrics.map(({ scope: found }) => found)),
    metrics: resourceMetrics.flatMap((one) => one.scopeMetrics.flatMap(({ metrics }) => metrics)),
  };
}

export const spansOf = (request: ReceivedRequest): ReceivedSpan[] =>
  traceRequest
    .parse(decode("TraceRequest", request.body))
    .resourceSpans.flatMap((one) => one.scopeSpans.flatMap(({ spans }) => spans));

/** The answer that takes a request but for some points. */
export function partialSuccess(rejectedDataPoints: number, errorMessage: string): Uint8Array {
  const type = protocol.lookupType("MetricsResponse");
  return type.encode(type.create({ partialSuccess: { rejectedDataPoints, errorMessage } })).finish();
}

/** Points of all metrics of some requests as lines `name{label="value",...} value`, sorted. */
export function seriesOf(requests: readonly ReceivedRequest[]): string[] {
  return requests
    .flatMap((request) => metricsOf(request).metrics)
    .flatMap(
      ({ name, gauge, sum, histogram }) =>
        (gauge ?? sum)?.dataPoints.map((point) => seriesLine(name, point.attributes, point.asDouble)) ??
        histogram?.dataPoints.flatMap((point) => histogramLines(name, point)) ??
        [],
    )
    .sort();
}

/** A point with explicit buckets, as Prometheus has it: buckets cumulative, with the label `le`. */
function histogramLines(name: string, point: z.output<typeof histogramPoints>[number]): string[] {
  const { attributes: labels, bucketCounts, explicitBounds, count, sum } = point;
  let upTo = 0;
  const buckets = bucketCounts.map((inBucket, i) => {
    upTo += inBucket;
    const le = i < explicitBounds.length ? `${explicitBounds[i]}` : "+Inf";
    return seriesLine(`${name}_bucket`, new Map([...labels, ["le", le]]), upTo);
  });
  return [...buckets, seriesLine(`${name}_sum`, labels, sum), seriesLine(`${name}_count`, labels, count)];
}

/** A series as a line; labels by name, empty ones left out, for they are no labels. */
export function seriesLine(name: string, labels: ReadonlyMap<string, unknown>, value: number): string {
  const shown = [...labels].filter(([, text]) => text !== "").sort(([a], [b]) => (a < b ? -1 : 1));
  return `${name}${JSON.stringify(shown)} ${value}`;
}
