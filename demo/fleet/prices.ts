import { parseConfig } from "../../runtime/config/load.ts";
import type { Config } from "../../runtime/config/schema.ts";
import { TEAMS } from "./teams.ts";

/** The keys of a configuration that turn the demo's GPU-time into bills. */
export type DemoLedger = Pick<Config, "currency" | "prices" | "rates" | "owners" | "register" | "policies" | "energy">;

const FROM = "2025-01-01";

/** Hourly list prices of AWS and Azure: by GPU for nodes with fewer GPUs than the public machines. */
const ON_DEMAND = [
  { match: { model: "H100" }, per: "gpu-hour", list: "6.88" },
  { match: { model: "A100-80GB" }, per: "gpu-hour", list: "3.43" },
  { match: { model: "A100-40GB" }, per: "gpu-hour", list: "2.74" },
  { match: { model: "V100-32GB" }, per: "gpu-hour", list: "3.90" },
  { match: { model: "MI300X" }, per: "gpu-hour", list: "6.00" },
  { match: { model: "L40S" }, per: "gpu-hour", list: "2.36" },
  { match: { model: "A10G" }, per: "gpu-hour", list: "1.28" },
  { match: { model: "L4" }, per: "gpu-hour", list: "1.04" },
  { match: { model: "T4" }, per: "gpu-hour", list: "0.88" },
  { match: { instanceType: "g6e.12xlarge" }, per: "node-hour", list: "10.49264", gpuPart: "0.9" },
  { match: { instanceType: "g6.12xlarge" }, per: "node-hour", list: "4.6016", gpuPart: "0.9" },
];

/** Negotiated prices and spot prices: invented, in the usual proportions. */
const DISCOUNTED = [
  {
    match: { model: "H100", capacityType: "reserved" },
    per: "gpu-hour",
    list: "6.88",
    contracted: "4.80",
    effective: "4.35",
  },
  { match: { model: "A100-80GB", capacityType: "spot" }, per: "gpu-hour", list: "3.43", effective: "1.37" },
  { match: { instanceType: "g6.12xlarge", capacityType: "spot" }, per: "node-hour", list: "4.6016", effective: "1.84" },
  { match: { instanceType: "g5.12xlarge", capacityType: "spot" }, per: "node-hour", list: "5.672", effective: "2.27" },
  {
    match: { instanceType: "g4dn.12xlarge", capacityType: "spot" },
    per: "node-hour",
    list: "3.912",
    effective: "1.56",
  },
];

/** The purchase of the workstations under the lab's desks, in euros. */
const OWNED = {
  match: { instanceType: "workstation" },
  currency: "EUR",
  owned: {
    inService: "2024-09-16",
    purchase: "38000",
    months: 36,
    residual: "2000",
    overheadPerMonth: "120",
    kWhPrice: "0.31",
    watts: 1400,
  },
};

const WRITTEN = {
  currency: "USD",
  prices: [...ON_DEMAND, ...DISCOUNTED, OWNED].map((entry) => ({ from: FROM, ...entry })),
  rates: [{ from: "2024-09-01", currency: "EUR", rate: "1.08" }],
  owners: {
    team: [{ podLabel: "team" }, { namespaceLabel: "team" }],
    costCenter: [{ namespaceLabel: "cost-centre" }],
    project: [
      { podLabel: "project" },
      { namespace: "*-train", value: "research" },
      { namespace: "*-serve", value: "products" },
      { namespace: "*-lab", value: "exploration" },
    ],
    environment: [
      { namespace: "*-serve", value: "production" },
      { namespace: "*", value: "development" },
    ],
  },
  register: TEAMS.map(({ name }) => name),
  policies: [
    { name: "showback", billing: true },
    { name: "by-usage", keep: true, basis: "usage" },
    {
      name: "all-in",
      keep: true,
      payers: { unallocated: "spread", stranded: "spread" },
      spread: { over: "pool", by: "time", window: "day" },
    },
  ],
  energy: { pue: "1.3", gramsPerKWh: [{ from: FROM, grams: "290" }] },
};

/**
 * Returns prices, owners and policies for the demo's fleet, as a configuration's values: every kind of price, a foreign currency, and three
 * policies to compare.
 */
export function demoLedger(): DemoLedger {
  const read = parseConfig(JSON.stringify(WRITTEN), { source: "the demo's prices", folder: ".", env: {} });
  const { currency, prices, rates, owners, register, policies, energy } = read;
  return { currency, prices, rates, owners, register, policies, energy };
}
