import { expect, it } from "vitest";
import { ADDED_COLUMNS, CHARGE_COLUMNS } from "../../../../../runtime/store/schema/charges.ts";

/** The columns whose texts begin the text of a line that closings hash, in their order. The hashes of closed periods are of this text. */
const HASHED = [
  "policy billing_period corrects cluster node slot from_at until_at",
  "gpu_model instance_type region zone pool capacity_type state because payer",
  "team cost_center project environment holder namespace pod workload_kind workload",
  "workload_type queue priority_class labels attribution raw_share share share_millis",
  "gpu_hours list_cost contracted_cost effective_cost power_cost energy_mj carbon_grams",
  "price priced_since team_rule cost_center_rule project_rule environment_rule",
];

it("every new column of charges is an added one, so that the hashes of closed periods stay", () => {
  expect(CHARGE_COLUMNS.flatMap(({ name }) => (ADDED_COLUMNS.has(name) ? [] : name))).toEqual(
    HASHED.join(" ").split(" "),
  );
});

it("an added column is a text or can be NULL, so that lines of before have no value in it", () => {
  const types = CHARGE_COLUMNS.flatMap(({ name, type }) => (ADDED_COLUMNS.has(name) ? type.sql : []));
  expect(types.filter((sql) => !sql.includes("String") && !sql.startsWith("Nullable("))).toEqual([]);
});
