import type { RequestHandler } from "express";

/** Names the cluster of an answer, as in a URL. */
export const clusterHeader = "Fairlead-Cluster";

/** Says of each answer which cluster it is of: one that is kept beside those of other clusters must say, and lists have no place for it. */
export function withCluster(cluster: string): RequestHandler {
  const encoded = encodeURIComponent(cluster);
  return (_request, response, next) => {
    response.set(clusterHeader, encoded);
    next();
  };
}
