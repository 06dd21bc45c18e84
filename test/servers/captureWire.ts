/** Writes test/captured/kubernetes-wire anew, from a real API server: `node test/servers/captureWire.ts`. */
import { mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { startApiServer } from "./apiServer.ts";
import { createAdmin, plainPodObject, until } from "./kubernetesAdmin.ts";
import { accepts, makeWireObjects, rawAnswer, wireCollections, wireServerFlags } from "./wireAnswers.ts";

const folder = fileURLToPath(new URL("../captured/kubernetes-wire/", import.meta.url));
const server = await startApiServer({ apiServerFlags: wireServerFlags });
const admin = createAdmin(server);
const pods = "/api/v1/namespaces/default/pods";

const write = async (name: string, path: string, protobuf: string): Promise<void> => {
  const [asJson, asProtobuf] = await Promise.all([
    rawAnswer(server, path, accepts.json),
    rawAnswer(server, path, protobuf),
  ]);
  await writeFile(join(folder, `${name}.json`), asJson);
  await writeFile(join(folder, `${name}.pb`), asProtobuf);
};

try {
  await mkdir(folder, { recursive: true });
  await makeWireObjects(admin);
  for (const [name, path] of Object.entries(wireCollections)) await write(name, path, accepts.protobuf);
  await write("page", "/api/v1/pods?limit=3", accepts.protobuf);
  await write("empty", "/api/v1/namespaces/none/pods", accepts.protobuf);
  await write("notFound", "/api/v1/namespaces/none", accepts.protobuf);

  const { metadata } = await admin.send("POST", pods, plainPodObject("first"));
  const made = await admin.send("POST", pods, plainPodObject("second"));
  await admin.send("PUT", `${pods}/second/status`, { ...made, status: { phase: "Running" } });
  await admin.send("DELETE", `${pods}/first?gracePeriodSeconds=0`);
  const watch = `/api/v1/pods?watch=1&allowWatchBookmarks=true&timeoutSeconds=3&resourceVersion=${metadata.resourceVersion}`;
  await write("watch", watch, accepts.protobufWatch);
  // Initial events end with a bookmark; others come only as often as etcd reports progress.
  const initial = `${watch}&sendInitialEvents=true&resourceVersionMatch=NotOlderThan`.replace("/api/v1/pods", pods);
  await write("watchInitial", initial, accepts.protobufWatch);
  await server.restart();
  await until("it serves", async () => (await rawAnswer(server, "/readyz", accepts.json)).toString() === "ok");
  await write("watchExpired", watch, accepts.protobufWatch);
} finally {
  await admin.close();
  await server.stop();
}
