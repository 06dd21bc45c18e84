import { shellQuote } from "../../kernel/shellQuote.ts";
import type { ApiRequest, JsonValue } from "../../model/recommendation.ts";
import { type ResourceRef, refOf } from "./resourceRef.ts";

/** A request in the form in which a person would send it. */
export interface Command {
  readonly command: string;
  /** The command that checks the request on the server without any effect; `null` where kubectl cannot do this. */
  readonly dryRun: string | null;
}

const patchTypes = {
  "application/merge-patch+json": "merge",
  "application/json-patch+json": "json",
  "application/strategic-merge-patch+json": "strategic",
} as const;

/**
 * The kubectl command that sends exactly this request, body and preconditions included; `null` for one that kubectl cannot
 * send. `kubectl create --raw` posts a body to any path, `kubectl delete --raw` sends delete options as the body. Neither
 * supports `--dry-run`: the parameter for `create` is in the path, and the option for `delete` is in the body.
 */
export function commandOf({ verb, path, contentType, body }: ApiRequest): Command | null {
  const [bare = "", query] = path.split("?");
  if (query !== undefined) return null;
  const text = JSON.stringify(body);
  if (verb === "PATCH") {
    const found = refOf(bare);
    if (found === null || contentType === null || contentType === "application/json") return null;
    const words = [
      "kubectl",
      "patch",
      kindArgument(found.ref),
      found.ref.name,
      ...(found.ref.namespace === null ? [] : ["--namespace", found.ref.namespace]),
      ...(found.subresource === "" ? [] : ["--subresource", found.subresource]),
      "--type",
      patchTypes[contentType],
      "--patch",
      text,
    ];
    return { command: shellWords(words), dryRun: shellWords([...words, "--dry-run=server"]) };
  }
  if (verb !== "POST" && verb !== "DELETE") return null;
  if (!isPath(bare)) return null;
  if (verb === "POST") {
    return { command: sendRaw("create", bare, text), dryRun: sendRaw("create", `${bare}?dryRun=All`, text) };
  }
  const options = optionsWithDryRun(body);
  if (options === null) return null;
  return { command: sendRaw("delete", bare, text), dryRun: sendRaw("delete", bare, JSON.stringify(options)) };
}

/**
 * DeleteOptions with which nothing is deleted. If a DELETE has a body, the API server reads its options from the body alone: a
 * `dryRun` in the path would be ignored, and the object would be deleted.
 */
export function optionsWithDryRun(body: JsonValue): JsonValue | null {
  return typeof body === "object" && body !== null && !Array.isArray(body) ? { ...body, dryRun: ["All"] } : null;
}

/** Whether a text is a path with only those characters that the paths of this program have. */
const isPath = (text: string): boolean =>
  /^\/apis?(?:\/[A-Za-z0-9._~%-]+)+$/.test(text) && !/\/\.{1,2}(?:\/|$)/.test(text);

const sendRaw = (verb: "create" | "delete", path: string, text: string): string =>
  `printf %s ${shellQuote(text)} | ${shellWords(["kubectl", verb, "--raw", path, "-f", "-"])}`;

/**
 * The resource as kubectl's argument: `deployments.v1.apps`, so that no other kind with this name is meant. The core group has
 * no such form.
 */
function kindArgument({ group, version, resource }: ResourceRef): string {
  return group === "" ? resource : `${resource}.${version}.${group}`;
}

/**
 * The command that cordons a node and evicts all of its pods except those of DaemonSets; it refuses if a pod has no owner or
 * keeps data on the node.
 */
export function drainCommand(node: string): { readonly command: string; readonly dryRun: string } {
  const words = ["kubectl", "drain", node, "--ignore-daemonsets"];
  return { command: shellWords(words), dryRun: shellWords([...words, "--dry-run=server"]) };
}

/** The command line for some words, which are quoted for a shell. */
export const shellWords = (words: readonly string[]): string => words.map(shellQuote).join(" ");
