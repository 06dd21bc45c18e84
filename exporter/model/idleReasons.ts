/**
 * Why allocated GPUs are idle: `no-activity`: nothing runs on them; `no-requests`: their server has had no request for two
 * hours, even if its kernels run meanwhile; `asleep`: the server has had no request either, and its weights are off the GPU.
 */
export const idleReasons = ["no-activity", "no-requests", "asleep"] as const;

export type IdleReason = (typeof idleReasons)[number];
