import { z } from "zod";

/** A name, as a browser sends it: no scheme, no port. */
const host = z
  .string()
  .regex(
    /^(?:\*|(?:\*\.)?[0-9A-Za-z_](?:[-0-9A-Za-z_.]{0,251}[0-9A-Za-z_])?)$/,
    "expected a name without scheme and port, such as fairlead.example.com",
  );

/** How Fairlead is asked. */
export const webSchema = z.strictObject({
  allowedHosts: z
    .array(host)
    .default([])
    .describe(
      "More names under which Fairlead may be asked, such as that of an Ingress; `*.example.com` matches all names below it, and `*` any name. IP addresses, `localhost`, names without a dot, the machine's own name and those of its Services always may. Looked at only where neither users nor TLS are configured: a stranger's page can then not make its visitors' browsers read Fairlead (DNS rebinding).",
    ),
});
