import { Ajv2020 } from "ajv/dist/2020.js";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { COST_AND_USAGE, REFERENCE_DATASETS } from "../../../../../reports/focus/check/dataset.ts";
import {
  APPLICABILITY,
  CONTRACT_APPLIED,
  METHOD_DETAILS,
  PROGRAMS,
} from "../../../../../reports/focus/check/objects.ts";
import { rounds } from "../../../../support/rounds.ts";
import { HAS_FOCUS_MODEL, modelColumns, objectSchema } from "../../../../support/focus-model.ts";

const DATASETS = [COST_AND_USAGE["1.4"], ...Object.values(REFERENCE_DATASETS)];
const TYPES: Readonly<Record<string, string>> = { decimal: "Decimal", time: "Date/Time", pairs: "JSON", json: "JSON" };

describe.skipIf(!HAS_FOCUS_MODEL)("the check, compared with the published model of FOCUS 1.4", () => {
  it.each(DATASETS.map((dataset) => ({ dataset, name: dataset.name })))(
    "has the columns of $name, with their types, nulls, words and ranges",
    ({ dataset }) => {
      const model = modelColumns(dataset.name);
      const expected = Object.entries(model).map(([name, column]) => [
        name,
        {
          isNeeded: column.feature_level === "Mandatory",
          isNullable: column.allows_nulls,
          type: column.data_type,
          isFraction: column.numeric_range !== null && column.numeric_range[1] === 1,
          words: name === "ServiceSubcategory" ? null : (column.allowed_values?.toSorted() ?? null),
        },
      ]);
      const checked = Object.entries(dataset.columns).map(([name, column]) => [
        name,
        {
          isNeeded: column.isNeeded,
          isNullable: column.isNullable,
          type: TYPES[column.kind] ?? "String",
          isFraction: column.isFraction === true,
          words: column.words?.toSorted() ?? null,
        },
      ]);
      expect(Object.fromEntries(checked)).toEqual(Object.fromEntries(expected));
    },
  );

  const key = fc.constantFrom("Cost", "Usage", "x_Own", "x_own", "Other");
  const scalar = fc.oneof(
    fc.constantFrom("a", "*", "", "GPU-Hours"),
    fc.constantFrom(0, 0.5, 1, -0.1, 1.1),
    fc.constant(null),
    fc.boolean(),
  );
  const object = (record: Record<string, fc.Arbitrary<unknown>>) => fc.record(record, { requiredKeys: [] });
  const mostly = <T>(good: fc.Arbitrary<T>, bad: fc.Arbitrary<unknown> = scalar): fc.Arbitrary<unknown> =>
    fc.oneof({ weight: 9, arbitrary: good }, { weight: 1, arbitrary: bad });
  const fractions = mostly(
    fc.record({ Cost: fc.constantFrom(0, 0.5, 1), Usage: fc.constantFrom(0, 1) }, { requiredKeys: [] }),
    fc.dictionary(key, scalar, { maxKeys: 2 }),
  );
  const rule = fc.record(
    {
      Dimension: mostly(fc.constant("RegionId")),
      Operator: mostly(fc.constantFrom("In", "NotIn", "Contains", "Exists", "DoesNotExist"), fc.constant("Like")),
      Values: mostly(fc.constantFrom(["*"], ["a"], ["a", "b"]), fc.array(fc.constantFrom("*", "a"), { maxLength: 2 })),
      Applicability: fractions,
    },
    { requiredKeys: ["Dimension", "Operator", "Values"] },
  );
  const listIn = (name: string, element: fc.Arbitrary<unknown>): fc.Arbitrary<unknown> =>
    mostly(
      fc.record({ [name]: fc.array(element, { minLength: 1, maxLength: 2 }), x_Own: scalar }, { requiredKeys: [name] }),
      object({ [name]: fc.array(element, { maxLength: 1 }), x_own: scalar, Other: scalar }),
    );

  it.each([
    {
      column: "allocatedmethoddetails",
      shape: METHOD_DETAILS,
      values: listIn(
        "Elements",
        object({
          AllocatedRatio: mostly(fc.constantFrom(0, 0.5, 1)),
          UsageUnit: scalar,
          UsageQuantity: scalar,
          x_Own: scalar,
        }),
      ),
    },
    {
      column: "contractapplied",
      shape: CONTRACT_APPLIED,
      values: listIn(
        "Elements",
        fc.record(
          {
            ContractId: mostly(fc.constant("c")),
            ContractCommitmentId: mostly(fc.constant("d")),
            ContractCommitmentAppliedCost: fc.constantFrom(-2, null, "a"),
            ContractCommitmentAppliedQuantity: fc.constantFrom(2, null, "a"),
            ContractCommitmentAppliedUnit: fc.constantFrom("GPU-Hours", null, 2),
          },
          { requiredKeys: ["ContractId", "ContractCommitmentId"] },
        ),
      ),
    },
    {
      column: "commitmentprogrameligibilitydetails",
      shape: PROGRAMS,
      values: listIn(
        "CommitmentPrograms",
        mostly(object({ ProgramType: scalar, x_Own: scalar }), object({ ProgramType: scalar, y: scalar })),
      ),
    },
    {
      column: "contractcommitmentapplicability",
      shape: APPLICABILITY,
      values: object({
        IsGlobalScope: mostly(fc.boolean()),
        IsComplexScope: mostly(fc.boolean()),
        Applicability: fractions,
        InclusionOperator: mostly(fc.constantFrom("And", "Or"), fc.constant("Xor")),
        Inclusions: fc.array(rule, { maxLength: 2 }),
        ExclusionOperator: fc.constantFrom("And", "Or"),
        Exclusions: mostly(fc.array(rule, { maxLength: 2 }), fc.array(object({ Dimension: scalar }))),
        x_Own: scalar,
      }),
    },
  ])("accepts the same objects as the schema of $column", ({ column, shape, values }) => {
    const validate = new Ajv2020({ strict: false }).compile(objectSchema(column));
    let accepted = 0;
    fc.assert(
      fc.property(values, (value) => {
        const isValid = validate(value);
        if (isValid) accepted += 1;
        expect({ value, isValid: shape(value) }).toEqual({ value, isValid });
      }),
      { numRuns: rounds(20_000) },
    );
    expect(accepted).toBeGreaterThan(rounds(20_000) / 200);
  });
});
