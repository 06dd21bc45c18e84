import { apiVersionOf, type KindInfo } from "./kinds.ts";
import { hasSubresource, isDeletable } from "./write/write.ts";

/** The discovery document at a path; `undefined` where there is none. */
export function discovery(kinds: readonly KindInfo[], path: string): object | undefined {
  if (path === "/version") return { major: "1", minor: "35", gitVersion: "v1.35.2", platform: "linux/amd64" };
  if (path === "/api") return { kind: "APIVersions", versions: ["v1"], serverAddressByClientCIDRs: [] };
  if (path === "/apis") return { kind: "APIGroupList", apiVersion: "v1", groups: groups(kinds) };
  const [, root, group, version, ...rest] = path.split("/");
  if (rest.length > 0) return undefined;
  if (root === "api" && group === "v1" && version === undefined) return resourceList(kinds, "", "v1");
  if (root !== "apis" || group === undefined) return undefined;
  if (version !== undefined) return resourceList(kinds, group, version);
  const found = groups(kinds).find((each) => each.name === group);
  return found === undefined ? undefined : { kind: "APIGroup", apiVersion: "v1", ...found };
}

function groups(kinds: readonly KindInfo[]): readonly { readonly name: string }[] {
  const versions = new Map(kinds.filter((info) => info.group !== "").map((info) => [info.group, info.version]));
  return [...versions].map(([name, version]) => {
    const preferredVersion = { groupVersion: `${name}/${version}`, version };
    return { name, versions: [preferredVersion], preferredVersion };
  });
}

function resourceList(kinds: readonly KindInfo[], group: string, version: string): object | undefined {
  const found = kinds.filter((info) => info.group === group && info.version === version);
  const [first] = found;
  if (first === undefined) return undefined;
  const resources = found.flatMap((info) => [
    {
      name: info.resource,
      singularName: info.kind.toLowerCase(),
      namespaced: info.namespaced,
      kind: info.kind,
      verbs: ["get", "list", "watch", "patch", "update", ...(isDeletable(info) ? ["delete"] : [])],
    },
    ...subresources(info),
  ]);
  return { kind: "APIResourceList", apiVersion: "v1", groupVersion: apiVersionOf(first), resources };
}

/** `kubectl drain` looks for evictions here, and `kubectl scale` for scales. */
function subresources(info: KindInfo): readonly object[] {
  const { resource, namespaced } = info;
  const base = { singularName: "", namespaced };
  const scale = { group: "autoscaling", version: "v1", kind: "Scale", verbs: ["get", "patch", "update"] };
  const eviction = { group: "policy", version: "v1", kind: "Eviction", verbs: ["create"] };
  if (hasSubresource(info, "eviction")) return [{ name: `${resource}/eviction`, ...base, ...eviction }];
  return hasSubresource(info, "scale") ? [{ name: `${resource}/scale`, ...base, ...scale }] : [];
}
