import { execFile } from "node:child_process";
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { promisify } from "node:util";
import { Agent } from "undici";
import { z } from "zod";
import type { ApiServer } from "./apiServer.ts";
import { installed } from "./program.ts";

/** What the owner of a token may do, asked with that token. */
export interface Asker {
  /** `verb resource` of all that it may do of this in a namespace; empty namespace: in all. Resources as `resourceName` and `pods/log`. */
  allowed(namespace: string, questions: readonly Question[]): Promise<readonly string[]>;
  /** What kubectl prints, and what it ended with. */
  kubectl(...flags: readonly string[]): Promise<{ readonly text: string; readonly code: number }>;
  /** The code that a request is answered with. */
  status(method: "GET" | "POST" | "PUT" | "DELETE", path: string, body?: object): Promise<number>;
  close(): Promise<void>;
}

/** Whether a verb is allowed on a resource. */
export interface Question {
  readonly verb: string;
  readonly group: string;
  /** With its subresource: `pods/log`. */
  readonly resource: string;
}

const review = z.looseObject({ status: z.looseObject({ allowed: z.boolean() }) });

export async function createAsker(server: ApiServer, token: string, folder: string): Promise<Asker> {
  const kubectl = join(await installed("install-kube-servers.sh"), "kubectl");
  const kubeconfig = join(folder, "kubectl.yaml");
  await writeFile(kubeconfig, server.kubeconfigFor(token), { mode: 0o600 });
  const agent = new Agent({ connect: { ca: server.ca }, connections: 8, allowH2: false });
  const headers = { authorization: `Bearer ${token}`, "content-type": "application/json" };

  const mayI = async (namespace: string, { verb, group, resource: named }: Question): Promise<boolean> => {
    const [resource, subresource] = named.split("/");
    const resourceAttributes = { namespace, verb, group, resource, subresource };
    const answer = await agent.request({
      origin: server.url,
      path: "/apis/authorization.k8s.io/v1/selfsubjectaccessreviews",
      method: "POST",
      headers,
      body: JSON.stringify({
        apiVersion: "authorization.k8s.io/v1",
        kind: "SelfSubjectAccessReview",
        spec: { resourceAttributes },
      }),
    });
    return review.parse(await answer.body.json()).status.allowed;
  };

  return {
    allowed: async (namespace, questions) => {
      const answers = await Promise.all(questions.map((question) => mayI(namespace, question)));
      return questions.filter((_, index) => answers[index] === true).map(questionText);
    },
    kubectl: async (...flags) => {
      const running = promisify(execFile)(kubectl, [`--kubeconfig=${kubeconfig}`, ...flags]);
      const failed = z.looseObject({ code: z.number(), stdout: z.string(), stderr: z.string() });
      return await running.then(
        ({ stdout }) => ({ text: stdout, code: 0 }),
        (error: unknown) => {
          const { code, stdout, stderr } = failed.parse(error);
          return { text: `${stdout}${stderr}`, code };
        },
      );
    },
    status: async (method, path, body) => {
      const sent = body === undefined ? {} : { body: JSON.stringify(body) };
      const answer = await agent.request({ origin: server.url, path, method, headers, ...sent });
      await answer.body.dump();
      return answer.statusCode;
    },
    close: () => agent.destroy(),
  };
}

export function questionText({ verb, group, resource }: Question): string {
  return `${verb} ${resource}${group === "" ? "" : `.${group}`}`;
}

const groupList = z.looseObject({
  groups: z.array(z.looseObject({ versions: z.array(z.looseObject({ groupVersion: z.string() })) })),
});
const resourceList = z.looseObject({ resources: z.array(z.looseObject({ name: z.string() })) });

const verbs = ["get", "list", "watch", "create", "update", "patch", "delete", "deletecollection"] as const;
/** Rights that have verbs of their own, or that no list of the API server names. */
const special: readonly (readonly [verbs: readonly string[], group: string, resource: string])[] = [
  [["bind", "escalate"], "rbac.authorization.k8s.io", "roles"],
  [["bind", "escalate"], "rbac.authorization.k8s.io", "clusterroles"],
  [["impersonate"], "", "users"],
  [["impersonate"], "", "groups"],
  [["impersonate"], "", "serviceaccounts"],
  [["impersonate"], "authentication.k8s.io", "userextras"],
  [["approve", "sign"], "certificates.k8s.io", "signers"],
  [["use"], "policy", "podsecuritypolicies"],
  [["*", ...verbs], "", "*"],
  [["*", ...verbs], "*", "*"],
];

/** Every verb on every resource and subresource that the API server has. */
export async function everyQuestion(server: ApiServer): Promise<readonly Question[]> {
  const agent = new Agent({ connect: { ca: server.ca }, connections: 8, allowH2: false });
  const get = async (path: string): Promise<unknown> => {
    const headers = { authorization: `Bearer ${server.adminToken}` };
    return await (await agent.request({ origin: server.url, path, method: "GET", headers })).body.json();
  };
  try {
    const { groups } = groupList.parse(await get("/apis"));
    const places = groups.flatMap(({ versions }) => versions.map(({ groupVersion }) => `/apis/${groupVersion}`));
    const found = await Promise.all(
      ["/api/v1", ...places].map(async (path) => {
        const group = path.startsWith("/apis/") ? (path.split("/")[2] ?? "") : "";
        return resourceList.parse(await get(path)).resources.map(({ name }) => ({ group, resource: name }));
      }),
    );
    const asked = [
      ...found.flat().flatMap((one) => verbs.map((verb) => ({ ...one, verb }))),
      ...special.flatMap(([more, group, resource]) => more.map((verb) => ({ group, resource, verb }))),
    ];
    return [...new Map(asked.map((question) => [questionText(question), question])).values()];
  } finally {
    await agent.destroy();
  }
}
