import type { ReceivedAlert } from "../../model/receivedAlert.ts";
import type { LinkedAlert, Recommendation } from "../../model/recommendation.ts";

type Subject = Pick<Recommendation, "fromTeam" | "forTeam" | "queue" | "pool">;

/** The alerts that were received lately: Alertmanager sends each of them again and again. */
export interface AlertLog {
  receive(alerts: readonly ReceivedAlert[], at: number): void;
  firing(): readonly ReceivedAlert[];
  isAbout(alert: ReceivedAlert, subject: Subject): boolean;
  /** The alerts about a subject that fire, or that were over after `since`; the newest first. */
  about(subject: Subject, since: number): readonly LinkedAlert[];
  /** The same alerts, each as it was last reported. */
  asLastReported(linked: readonly LinkedAlert[]): readonly LinkedAlert[];
  forgetOld(at: number): void;
}

/**
 * An alert that was not received again for this long is over, whether reported or not: Alertmanager repeats alerts within 12
 * hours.
 */
const silenceSeconds = 86_400;
const mostAlerts = 1000;
const mostLinked = 10;

/** Makes a log in which nothing has been received yet. */
export function createAlertLog(): AlertLog {
  /** There is one entry for each time that an alert began to fire. */
  const known = new Map<string, { readonly alert: ReceivedAlert; readonly receivedAt: number }>();
  return {
    receive(alerts, at) {
      for (const alert of alerts) {
        const key = `${alert.fingerprint} ${alert.startsAt}`;
        // An alert that is over stays over, in whatever order its states are reported.
        const isLate = alert.status === "firing" && known.get(key)?.alert.status === "resolved";
        known.delete(key);
        known.set(key, { alert: isLate ? { ...alert, status: "resolved" } : alert, receivedAt: at });
      }
      for (const key of known.keys()) {
        if (known.size <= mostAlerts) break;
        known.delete(key);
      }
    },
    firing: () => [...known.values()].map(({ alert }) => alert).filter(({ status }) => status === "firing"),
    isAbout,
    about: (subject, since) =>
      [...known.values()]
        .map(({ alert }) => alert)
        .filter((alert) => isAbout(alert, subject) && (alert.status === "firing" || (alert.endsAt ?? since) >= since))
        .sort((a, b) => b.startsAt - a.startsAt || (a.fingerprint < b.fingerprint ? -1 : 1))
        .slice(0, mostLinked)
        .map(({ alertname, fingerprint, status, startsAt }) => ({ alertname, fingerprint, status, startsAt })),
    asLastReported: (linked) =>
      linked.map((one) => {
        const reported = known.get(`${one.fingerprint} ${one.startsAt}`)?.alert;
        return reported === undefined ? one : { ...one, status: reported.status };
      }),
    forgetOld(at) {
      for (const [key, { receivedAt }] of known) if (at - receivedAt > silenceSeconds) known.delete(key);
    },
  };
}

/** Whether two links report the same state of the same alert. */
export function isSameAlert(one: LinkedAlert, other: LinkedAlert | undefined): boolean {
  return one.fingerprint === other?.fingerprint && one.startsAt === other.startsAt && one.status === other.status;
}

/**
 * Whether an alert is about the subject of advice: its labels name at least one of team, queue and pool, and each one that they
 * name is also that of the advice.
 */
function isAbout({ labels }: ReceivedAlert, { fromTeam, forTeam, queue, pool }: Subject): boolean {
  const { team = "", queue: alertQueue = "", pool: alertPool = "", domain = "" } = labels;
  if (team === "" && alertQueue === "" && alertPool === "") return false;
  // The name of a quota domain consists of the names of its pools.
  if (domain !== "" && pool !== "" && !domain.split("+").includes(pool)) return false;
  return (
    (team === "" || team === forTeam || team === fromTeam) &&
    (alertQueue === "" || alertQueue === queue) &&
    (alertPool === "" || alertPool === pool)
  );
}
