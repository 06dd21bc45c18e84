import { setTimeout as sleep } from "node:timers/promises";
import { type Admin, until } from "../kubernetesAdmin.ts";

const QUIET_MS = 2000;

/** Waits until no object of these collections has changed for two seconds: controllers write status later than they act. */
export async function comeToRest(admin: Admin, collections: readonly string[]): Promise<void> {
  const versions = async (): Promise<string> => {
    const lists = await Promise.all(collections.map((path) => admin.send("GET", path)));
    return JSON.stringify(lists.map(({ items }) => items?.map(({ metadata }) => metadata.resourceVersion)));
  };
  await until("the controllers have come to rest", async () => {
    const before = await versions();
    await sleep(QUIET_MS);
    return (await versions()) === before;
  });
}
