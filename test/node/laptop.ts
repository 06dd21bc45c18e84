import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { documentSchema, type FairleadDocument } from "../../exporter/publish/document/schema.ts";
import { repository } from "../servers/imageBuild.ts";
import { blocksOf } from "./guideBlocks.ts";
import type { RealNode, Said } from "./realNode.ts";

/** How a user signs in. */
export type SignIn = "certificate" | "token";

const guide = readFileSync(join(repository, "docs/now.md"), "utf8");
/** The account of the token, in the namespace that every cluster has. */
const account = "laptop";
const user = { certificate: "ada", token: `system:serviceaccount:default:${account}` };

/** The laptop of a user: a kubeconfig for a real node, with the rights of docs/now.md, and `fairlead`. Nothing else. */
export class Laptop {
  readonly folder = mkdtempSync(join(tmpdir(), "fairlead-laptop-"));
  readonly #node: RealNode;

  constructor(node: RealNode) {
    this.#node = node;
  }

  /** An administrator gives both users the rights, by the commands and the role of the guide, and the laptop its kubeconfigs. */
  async isGivenRights(): Promise<void> {
    const commands = blocksOf(guide).find(({ text }) => text.includes("create clusterrolebinding"))?.text ?? "";
    const [, role = ""] = /^```yaml\n([\s\S]*?)^```$/m.exec(guide) ?? [];
    for (const [signIn, name] of Object.entries(user))
      await this.#node.run(
        commands
          .replace("--user YOU", `--user ${name}`)
          .replace("binding fairlead-now", `binding fairlead-now-${signIn}`),
      );
    await this.#node.apply(role);
    const { folder } = this;
    const clients = join(this.#node.place.folder, "run/clients");
    await this.#node.run(`kubectl --namespace gpu-operator create rolebinding read-gpu-pages --role read-gpu-pages \
        ${Object.values(user)
          .map((name) => `--user ${name}`)
          .join(" ")}
      kubectl --namespace default create serviceaccount ${account}
      kubectl --namespace default create token ${account} > ${folder}/token
      openssl req -new -newkey rsa:2048 -nodes -subj /CN=${user.certificate} -keyout ${folder}/key -out ${folder}/csr 2> ${folder}/said
      openssl x509 -req -days 2 -in ${folder}/csr -CA ${clients}.crt -CAkey ${clients}.key -out ${folder}/certificate 2> ${folder}/said`);
    this.#writeKubeconfig("certificate", {
      "client-certificate": join(folder, "certificate"),
      "client-key": join(folder, "key"),
    });
    this.#writeKubeconfig("token", { token: readFileSync(join(folder, "token"), "utf8").trim() });
  }

  async fairlead(signIn: SignIn, ...words: readonly string[]): Promise<Said> {
    const [program, main] = [process.execPath, join(repository, "cli/main.ts")];
    return await this.#node.shell(`${program} ${main} ${words.join(" ")} --kubeconfig ${this.#kubeconfig(signIn)}`);
  }

  /** The answer of `fairlead inspect` about a dump. */
  async inspect(dump: string): Promise<FairleadDocument> {
    const main = join(repository, "cli/main.ts");
    const out = await this.#node.run(`${process.execPath} ${main} inspect ${dump} --output json`);
    return documentSchema.parse(JSON.parse(out));
  }

  async leaves(): Promise<void> {
    rmSync(this.folder, { recursive: true, force: true });
    await this.#node.run(`kubectl delete clusterrolebinding ${Object.keys(user)
      .map((signIn) => `fairlead-now-${signIn}`)
      .join(" ")}
      kubectl delete clusterrole fairlead-now
      kubectl --namespace gpu-operator delete role,rolebinding read-gpu-pages
      kubectl --namespace default delete serviceaccount ${account}`);
  }

  #kubeconfig(signIn: SignIn): string {
    return join(this.folder, `${signIn}.kubeconfig`);
  }

  /** The server is asked by the address that its certificate has. */
  #writeKubeconfig(signIn: SignIn, identity: object): void {
    const authority = join(this.#node.place.folder, "run/certificates/apiserver.crt");
    const server = { server: "https://192.0.2.11:6443", "certificate-authority": authority };
    const config = {
      apiVersion: "v1",
      kind: "Config",
      clusters: [{ name: "test", cluster: server }],
      users: [{ name: signIn, user: identity }],
      contexts: [{ name: signIn, context: { cluster: "test", user: signIn } }],
      "current-context": signIn,
    };
    writeFileSync(this.#kubeconfig(signIn), JSON.stringify(config));
  }
}
