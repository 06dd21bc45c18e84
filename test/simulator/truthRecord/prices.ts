/** What a whole node of one kind costs, USD per hour. */
export interface Price {
  readonly instanceType: string;
  readonly capacityType: "on-demand" | "spot" | "reserved";
  readonly perNodeHour: number;
}
