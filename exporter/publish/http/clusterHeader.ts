import type { RequestHandler } from "express";

/** The header that names the cluster of an answer; its value is encoded as in a URL. */
export const clusterHeader = "Fairlead-Cluster";

/**
 * Names the cluster in a header of each answer. An answer that is kept beside those of other clusters has to name its own, and
 * lists have no field for it.
 */
export function withCluster(cluster: string): RequestHandler {
  const encoded = encodeURIComponent(cluster);
  return (_request, response, next) => {
    response.set(clusterHeader, encoded);
    next();
  };
}
