/** One object of the Kubernetes API, by the parts of its path. */
export interface ResourceRef {
  /** The API group; empty: the core group. */
  readonly group: string;
  readonly version: string;
  /** The plural name of the kind, as in the path. */
  readonly resource: string;
  /** The namespace; `null`: the kind has no namespaces. */
  readonly namespace: string | null;
  readonly name: string;
}

const label = "[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?";
const subdomain = new RegExp(`^(?=.{1,253}$)${label}(?:\\.${label})*$`);
const namespaceName = new RegExp(`^${label}$`);
const groupName = new RegExp(`^(?:${label}(?:\\.${label})*)?$`);
const versionName = /^v[a-z0-9]{1,30}$/;
const resourceName = /^[a-z][a-z0-9]{0,62}$/;

/**
 * Whether text can be the name of an object (RFC 1123 subdomain, which the API server demands for all kinds that are changed
 * here).
 */
export const isObjectName = (text: string): boolean => subdomain.test(text);

/** Whether text can be a uid. Objects from files without uids have `namespace/name` instead. */
export const isUid = (text: string): boolean => /^[0-9A-Za-z][0-9A-Za-z._-]{0,127}$/.test(text);

/** The path of an object, or of its subresource; `null` if a part of it is invalid. Nothing is sent in that case. */
export function pathOf(ref: ResourceRef, subresource = ""): string | null {
  if (!groupName.test(ref.group) || !versionName.test(ref.version) || !resourceName.test(ref.resource)) return null;
  if (!isObjectName(ref.name) || (ref.namespace !== null && !namespaceName.test(ref.namespace))) return null;
  const root = ref.group === "" ? `/api/${ref.version}` : `/apis/${ref.group}/${ref.version}`;
  const within = ref.namespace === null ? "" : `/namespaces/${encodeURIComponent(ref.namespace)}`;
  const below = subresource === "" ? "" : `/${encodeURIComponent(subresource)}`;
  return `${root}${within}/${ref.resource}/${encodeURIComponent(ref.name)}${below}`;
}

/** The object that a path names, and its subresource; `null` if the path names none. */
export function refOf(path: string): { readonly ref: ResourceRef; readonly subresource: string } | null {
  const parts = /^\/(?:api|apis\/([^/]+))\/([^/]+)(?:\/namespaces\/([^/]+))?\/([^/]+)\/([^/]+)(?:\/([^/]+))?$/.exec(
    path,
  );
  if (parts === null) return null;
  const [, group = "", version = "", namespace, resource = "", name = "", subresource = ""] = parts;
  const ref = { group, version, resource, namespace: namespace ?? null, name };
  return pathOf(ref, subresource) === path ? { ref, subresource } : null;
}

/** Group and version of an `apiVersion` such as `apps/v1`. */
export function groupVersion(apiVersion: string): { readonly group: string; readonly version: string } {
  const at = apiVersion.lastIndexOf("/");
  return { group: at < 0 ? "" : apiVersion.slice(0, at), version: apiVersion.slice(at + 1) };
}
