/**
 * Why a node has no price. `no-price`: the price list has nothing for it; `no-price-for-capacity-type`: there is a price, but
 * not for the way in which the node is paid for (spot, reserved); `unknown-node`: it does not say what instance type or model
 * it is.
 */
export const unpricedReasons = ["no-price", "no-price-for-capacity-type", "unknown-node"] as const;

export type UnpricedReason = (typeof unpricedReasons)[number];
