import type { OwnerObject } from "../../model/cluster.ts";
import type { JobLimits } from "../../model/disruption.ts";
import { annotationsOfPods, textMap } from "./boundedFields.ts";
import { controllerOf, type Decoded, decodeObject } from "./decoded.ts";
import { child, fault, flag, has, items, type Place, parsed, pathOf, text } from "./fields.ts";
import { gangSize } from "./gangSize.ts";
import { keptLabels } from "./keptLabels.ts";

/**
 * The metadata of an owner as a model record; for whole objects also the limits of a batch/v1 Job and the size of a gang. A
 * metadata-only answer has the kind PartialObjectMetadata, so the caller passes the kind that was requested; for whole objects
 * from files `asked` is left out.
 */
export function decodeOwner(
  value: unknown,
  asked: { readonly apiVersion: string; readonly kind: string } | null = null,
): Decoded<OwnerObject> {
  return decodeObject(asked?.kind ?? "Owner", value, (object, meta) => {
    const metadata = child(object, "metadata");
    const apiVersion = asked?.apiVersion ?? text(object, "apiVersion") ?? "";
    const kind = asked?.kind ?? text(object, "kind") ?? "";
    // A specification that is not understood declares no gang, because the owner of a pod must stay known.
    const gangPods = gangSize({ apiVersion, kind }, { ...object, faults: [] });
    return {
      apiVersion,
      kind,
      namespace: meta.namespace,
      name: meta.name,
      uid: meta.uid,
      labels: keptLabels(metadata).labels,
      annotations: textMap(metadata, "annotations", annotationsOfPods),
      owner: controllerOf(object),
      createdAt: meta.createdAt,
      job: isBatchJob({ apiVersion, kind }) ? jobLimits(object) : null,
      ...(gangPods === null ? {} : { gangPods }),
    };
  });
}

type OnDisruption = JobLimits["onDisruption"];

/** `backoffLimit` of a Job that names none. */
const defaultBackoffLimit = 6;
/** The greatest number of entries that are read of a list. The API server allows 20 rules, 20 conditions and 255 exit codes. */
const maxEntries = 256;

/**
 * Whether an object is a Job of Kubernetes itself, which is read whole: what it does about lost pods is not in its metadata.
 */
function isBatchJob({ apiVersion, kind }: { readonly apiVersion: string; readonly kind: string }): boolean {
  return kind === "Job" && apiVersion.startsWith("batch/");
}

/** What decides whether a batch/v1 Job survives the loss of a pod; `null` where there is only its metadata. */
function jobLimits(job: Place): JobLimits | null {
  if (!has(job, "spec")) return null;
  const spec = child(job, "spec");
  const backoffLimit = count(spec, "backoffLimit") ?? defaultBackoffLimit;
  return {
    backoffLimit: has(spec, "backoffLimitPerIndex") ? null : backoffLimit,
    failed: count(child(job, "status"), "failed") ?? 0,
    onDisruption: onDisruption(child(spec, "podFailurePolicy")),
    isSuspended: flag(spec, "suspend"),
  };
}

function count(place: Place, key: string): number | null {
  const read = (found: unknown) =>
    typeof found === "number" && Number.isSafeInteger(found) && found >= 0 ? found : null;
  return parsed(place, key, read, "a whole number from 0 on");
}

/** A rule of `podFailurePolicy`, as far as a disrupted pod can match it. */
interface FailureRule {
  readonly action: OnDisruption;
  readonly matches: (exitCode: number | null) => boolean;
}

/**
 * Exit codes of a process that ends by SIGTERM, and of one that is killed after its grace period; `null` for one that exits by
 * itself, which no rule for exit codes matches.
 */
const exitCodes = [143, 137, null] as const;
const worstFirst: readonly OnDisruption[] = ["FailJob", "FailIndex", "Count", "Ignore"];

/**
 * What a policy does about a disrupted pod: the first rule that matches decides. A rule for exit codes may match the pod before
 * the rule for its condition does, and the exit code of its processes is not known beforehand, so this is the worst outcome.
 */
function onDisruption(policy: Place): OnDisruption {
  const rules = bounded(policy, "rules").map(readRule);
  const outcomes = exitCodes.map((code) => rules.find(({ matches }) => matches(code))?.action ?? "Count");
  return worstFirst.find((action) => outcomes.includes(action)) ?? "Count";
}

function readRule(rule: Place): FailureRule {
  const codes = has(rule, "onExitCodes") ? readExitCodes(child(rule, "onExitCodes")) : null;
  const isOnDisruption = bounded(rule, "onPodConditions").some(
    (pattern) => text(pattern, "type") === "DisruptionTarget" && (text(pattern, "status") ?? "True") === "True",
  );
  return { action: readAction(rule), matches: (code) => isOnDisruption || codes?.(code) === true };
}

/** The action of a rule. One that is not known here may do anything, so the worst is assumed. */
function readAction(rule: Place): OnDisruption {
  const action = text(rule, "action");
  return worstFirst.find((known) => known === action) ?? "FailJob";
}

function readExitCodes(place: Place): (code: number | null) => boolean {
  const values = place.value.values;
  const codes: ReadonlySet<unknown> = new Set(Array.isArray(values) ? values.slice(0, maxEntries) : []);
  if (!Array.isArray(values)) fault(place, "values", "a list of numbers");
  const isNot = text(place, "operator") === "NotIn";
  return (code) => code !== null && codes.has(code) !== isNot;
}

function bounded(place: Place, key: string): readonly Place[] {
  const found = items(place, key);
  if (found.length > maxEntries) place.faults.push(`${pathOf(place, key)} has more than ${maxEntries} entries`);
  return found.slice(0, maxEntries);
}
