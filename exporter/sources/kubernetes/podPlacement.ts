import { createDataSharer } from "../../kernel/sharedData.ts";
import type { HostPort, PodPlacement, PodSelector, PodTerm, SpreadRule } from "../../model/podPlacement.ts";
import type { LabelRequirement } from "../../model/queues/podNeeds.ts";
import { nameText, someItems, textMap, wholeLabels } from "./boundedFields.ts";
import { child, flag, has, items, number, type Place, text, textItems } from "./fields.ts";
import { perPodLabels } from "./keptLabels.ts";
import { labelRequirements } from "./nodeRules.ts";

const shared = createDataSharer<PodPlacement>();
const sharedKeptOff = createDataSharer<KeptOff>();

/** The rules of a pod itself that keep other pods away from it. */
export type KeptOff = Pick<PodPlacement, "antiAffinity" | "hostPorts">;

/** Like `podPlacement`, for a pod from which only this is needed; `null` if it keeps no pod away. */
export function keptOff(spec: Place): KeptOff | null {
  const antiAffinity = terms(child(child(spec, "affinity"), "podAntiAffinity"), antiAffinityName, new Set());
  const ports = hostPorts(spec);
  return antiAffinity.length + ports.length === 0 ? null : sharedKeptOff({ antiAffinity, hostPorts: ports });
}

const antiAffinityName = "pod anti-affinity";

/**
 * What the spec of a pod requires of the pods around it; the same object for the same content, `null` if it requires nothing.
 */
export function podPlacement(spec: Place): PodPlacement | null {
  const unknown = new Set<string>();
  const affinity = child(spec, "affinity");
  const found: PodPlacement = {
    affinity: terms(child(affinity, "podAffinity"), "pod affinity", unknown),
    antiAffinity: terms(child(affinity, "podAntiAffinity"), antiAffinityName, unknown),
    spread: spreadRules(spec, unknown),
    hostPorts: hostPorts(spec),
    unknown: [],
  };
  noteVolumes(spec, unknown);
  if (namesNode(affinity)) unknown.add("its node affinity names nodes (matchFields)");
  const isEmpty = [found.affinity, found.antiAffinity, found.spread, found.hostPorts].every(
    ({ length }) => length === 0,
  );
  return isEmpty && unknown.size === 0 ? null : shared({ ...found, unknown: [...unknown].sort() });
}

const required = "requiredDuringSchedulingIgnoredDuringExecution";

function terms(place: Place, name: string, unknown: Set<string>): readonly PodTerm[] {
  return someItems(place, required).flatMap((term): readonly PodTerm[] => {
    for (const field of ["namespaceSelector", "matchLabelKeys", "mismatchLabelKeys"])
      if (isSaid(term, field)) unknown.add(`its ${name} has a ${field}`);
    const topologyKey = nameText(term, "topologyKey");
    return [
      {
        topologyKey,
        selector: podSelector(term, name, unknown),
        namespaces: textItems(term, "namespaces").slice(0, 256),
      },
    ];
  });
}

/** Whether a field is set. An empty `namespaceSelector` selects every namespace, so its presence alone has a meaning. */
const isSaid = (place: Place, field: string): boolean =>
  field === "namespaceSelector" ? has(place, field) : textItems(place, field).length > 0;

function spreadRules(spec: Place, unknown: Set<string>): readonly SpreadRule[] {
  return someItems(spec, "topologySpreadConstraints").flatMap((rule): readonly SpreadRule[] => {
    // An absent value is none that the API server stores.
    if (text(rule, "whenUnsatisfiable") === "ScheduleAnyway") return [];
    if (textItems(rule, "matchLabelKeys").length > 0) unknown.add("its topology spread has matchLabelKeys");
    if (text(rule, "nodeTaintsPolicy") === "Honor") unknown.add("its topology spread heeds taints (nodeTaintsPolicy)");
    return [
      {
        topologyKey: nameText(rule, "topologyKey"),
        maxSkew: number(rule, "maxSkew") ?? 1,
        minDomains: number(rule, "minDomains") ?? 1,
        selector: podSelector(rule, "topology spread", unknown),
        heedsNodeRules: text(rule, "nodeAffinityPolicy") !== "Ignore",
      },
    ];
  });
}

const nothing: LabelRequirement = { key: "", operator: "In", values: [] };

/** The selector of a rule. A selector that is absent selects no pod, and an empty one every pod. */
function podSelector(place: Place, name: string, unknown: Set<string>): PodSelector {
  if (!has(place, "labelSelector")) return [nothing];
  const asked = selectorRequirements(child(place, "labelSelector"));
  for (const { key } of asked) if (perPodLabels.has(key)) unknown.add(`its ${name} selects by label ${key}`);
  return asked;
}

/** The requirements of a label selector; an empty selector has none. */
export function selectorRequirements(selector: Place): readonly LabelRequirement[] {
  const labels = textMap(selector, "matchLabels", wholeLabels);
  return [
    ...Object.keys(labels)
      .sort()
      .map((key): LabelRequirement => ({ key, operator: "In", values: [labels[key] ?? ""] })),
    ...labelRequirements(selector, "matchExpressions"),
  ];
}

/**
 * The host ports of containers and restartable init containers; with `hostNetwork` the API server writes each port as a host
 * port, too.
 */
function hostPorts(spec: Place): readonly HostPort[] {
  const ports: HostPort[] = [];
  for (const container of items(spec, "containers")) addHostPorts(container, ports);
  for (const container of items(spec, "initContainers"))
    if (text(container, "restartPolicy") === "Always") addHostPorts(container, ports);
  return ports;
}

function addHostPorts(container: Place, ports: HostPort[]): void {
  for (const place of items(container, "ports")) {
    const port = number(place, "hostPort") ?? 0;
    if (port <= 0 || ports.length === maxHostPorts) continue;
    const [protocol, address] = [nameText(place, "protocol"), nameText(place, "hostIP")];
    ports.push({
      port,
      protocol: protocol === "" ? "TCP" : protocol,
      address: address === "" ? everyAddress : address,
    });
  }
}

const maxHostPorts = 256;

/** The address of a host port that names none. */
export const everyAddress = "0.0.0.0";

/** Disks that the pod itself names: only the cloud knows to which nodes they can be attached. */
const ownDisks = [
  "gcePersistentDisk",
  "awsElasticBlockStore",
  "azureDisk",
  "cinder",
  "iscsi",
  "rbd",
  "fc",
  "flexVolume",
  "flocker",
  "photonPersistentDisk",
  "portworxVolume",
  "scaleIO",
  "storageos",
  "vsphereVolume",
] as const;

function noteVolumes(spec: Place, unknown: Set<string>): void {
  for (const volume of items(spec, "volumes")) {
    if (has(volume, "ephemeral")) unknown.add("a volume is made for it and goes with it (ephemeral)");
    // Volumes that are read-only keep no data: secrets and the like.
    if (has(volume, "csi") && !flag(child(volume, "csi"), "readOnly"))
      unknown.add("a driver makes a volume for it on its node (csi)");
    if (ownDisks.some((kind) => has(volume, kind))) unknown.add("it names a disk itself, without a claim");
  }
}

/** Names of the PersistentVolumeClaims of a pod, each once. */
export function claimNames(spec: Place): readonly string[] {
  const names = new Set<string>();
  for (const volume of someItems(spec, "volumes")) {
    const name = nameText(child(volume, "persistentVolumeClaim"), "claimName");
    if (name !== "") names.add(name);
  }
  return [...names];
}

function namesNode(affinity: Place): boolean {
  const rule = child(child(affinity, "nodeAffinity"), required);
  return someItems(rule, "nodeSelectorTerms").some((term) => items(term, "matchFields").length > 0);
}
