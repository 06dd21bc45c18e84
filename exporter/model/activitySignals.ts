/** The signals from which activity is read, best first. */
export const activitySignals = ["sm_active", "gr_engine_active", "gpu_util"] as const;

export type ActivitySignal = (typeof activitySignals)[number];
