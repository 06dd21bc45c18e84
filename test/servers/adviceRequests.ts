import { execFile } from "node:child_process";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { delimiter, join } from "node:path";
import { promisify } from "node:util";
import { Agent } from "undici";
import { z } from "zod";
import { optionsWithDryRun } from "../../exporter/advice/steps/command.ts";
import type { AdviceStep, ApiRequest } from "../../exporter/model/recommendation.ts";
import type { ApiServer } from "./apiServer.ts";
import { installed } from "./program.ts";

/** What the API server answered to a request of advice. */
export interface Answer {
  readonly status: number;
  readonly body: unknown;
}

/** Sends the requests of advice to a real API server: as they are, and as a person would with kubectl. */
export interface AdviceSender {
  send(request: ApiRequest, dryRun: boolean): Promise<Answer>;
  /** Runs a command line in a shell with a real kubectl; fails with what kubectl said. */
  shell(command: string): Promise<string>;
  /** All of what the step changes that is not its status, as text. */
  contentOf(step: AdviceStep): Promise<string>;
  close(): Promise<void>;
}

const unread = z.unknown().optional();
const content = z.looseObject({
  metadata: z.looseObject({ uid: unread, labels: unread, annotations: unread, deletionTimestamp: unread }),
  spec: unread,
});

export async function createAdviceSender(server: ApiServer): Promise<AdviceSender> {
  const kubectl = await installed("install-kube-servers.sh");
  const folder = await mkdtemp(join(tmpdir(), "fairlead-advice-"));
  const kubeconfig = join(folder, "kubeconfig.yaml");
  await writeFile(kubeconfig, server.kubeconfigFor(server.adminToken), { mode: 0o600 });
  const env = { ...process.env, KUBECONFIG: kubeconfig, PATH: `${kubectl}${delimiter}${process.env.PATH ?? ""}` };
  const agent = new Agent({ connect: { ca: server.ca }, connections: 4 });
  const authorization = `Bearer ${server.adminToken}`;

  const answer = async (method: ApiRequest["verb"] | "GET", path: string, request?: ApiRequest): Promise<Answer> => {
    const type = request?.contentType ?? null;
    const response = await agent.request({
      origin: server.url,
      path,
      method,
      headers: { authorization, ...(type === null ? {} : { "content-type": type }) },
      ...(request === undefined || request.body === null ? {} : { body: JSON.stringify(request.body) }),
    });
    return { status: response.statusCode, body: await response.body.json() };
  };
  return {
    send: (request, dryRun) => {
      // The body's options of a DELETE count, not the path's.
      if (dryRun && request.verb === "DELETE") {
        return answer(request.verb, request.path, { ...request, body: optionsWithDryRun(request.body) });
      }
      return answer(request.verb, `${request.path}${dryRun ? "?dryRun=All" : ""}`, request);
    },
    shell: async (command) => (await promisify(execFile)("sh", ["-c", command], { env, cwd: folder })).stdout,
    contentOf: async ({ request: { path } }) => {
      const found = await answer("GET", path.replace(/\/eviction$/, ""));
      const { metadata, spec } = content.parse(found.body);
      const { uid, labels, annotations, deletionTimestamp } = metadata;
      return JSON.stringify({ status: found.status, uid, labels, annotations, deletionTimestamp, spec });
    },
    close: async () => {
      await agent.destroy();
      await rm(folder, { recursive: true, force: true });
    },
  };
}
