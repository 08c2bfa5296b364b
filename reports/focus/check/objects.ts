import { isObject } from "../../../domain/object.ts";
import {
  aFlag,
  aFraction,
  aNull,
  aNumber,
  aText,
  closedObject,
  eitherOf,
  listOf,
  oneWord,
  openObject,
  type Fields,
  type Shape,
} from "./shape.ts";

/**
 * AllocatedMethodDetails: at least one element with a ratio from 0 to 1. A quantity needs a unit. Source: the schema of FOCUS 1.4,
 * `allocatedmethoddetailsobject`.
 */
export const METHOD_DETAILS: Shape = openObject({
  Elements: listOf(
    eitherOf(
      openObject({ AllocatedRatio: aFraction, UsageUnit: aText, UsageQuantity: aNumber }),
      openObject({ AllocatedRatio: aFraction }, { UsageUnit: eitherOf(aText, aNull), UsageQuantity: aNull }),
    ),
  ),
});

const CONTRACT: Fields = { ContractId: aText, ContractCommitmentId: aText };

/**
 * ContractApplied: commitments with their contracts, and for each either a cost, or a quantity with a unit. Source: the schema of FOCUS 1.4,
 * `contractappliedobject`.
 */
export const CONTRACT_APPLIED: Shape = openObject({
  Elements: listOf(
    eitherOf(
      openObject(
        { ...CONTRACT, ContractCommitmentAppliedCost: aNumber },
        { ContractCommitmentAppliedQuantity: aNull, ContractCommitmentAppliedUnit: aNull },
      ),
      openObject(
        { ...CONTRACT, ContractCommitmentAppliedQuantity: aNumber, ContractCommitmentAppliedUnit: aText },
        { ContractCommitmentAppliedCost: aNull },
      ),
    ),
  ),
});

/**
 * CommitmentProgramEligibilityDetails: at least one program with its type. Source: the schema of FOCUS 1.4,
 * `commitmentprogrameligibilitydetailsobject`.
 */
export const PROGRAMS: Shape = openObject({ CommitmentPrograms: listOf(openObject({ ProgramType: aText })) });

const FRACTIONS: Shape = closedObject({}, { Cost: aFraction, Usage: aFraction });
const ANY = oneWord("*");
const NOT_ANY: Shape = (value) => aText(value) && !ANY(value);
const MORE_OF_RULE: Fields = { Applicability: FRACTIONS };
const COMPARED = oneWord("In", "NotIn", "StartsWith", "NotStartsWith", "Contains", "NotContains", "EndsWith");
const single =
  (each: Shape): Shape =>
  (value) =>
    Array.isArray(value) && value.length === 1 && each(value[0]);

/** A condition on a column. The value `*` stands alone, and only some operators have it. */
const RULE: Shape = eitherOf(
  closedObject({ Dimension: aText, Operator: COMPARED, Values: listOf(NOT_ANY) }, MORE_OF_RULE),
  closedObject(
    { Dimension: aText, Operator: oneWord("In", "Contains", "Exists", "DoesNotExist"), Values: single(ANY) },
    MORE_OF_RULE,
  ),
);

const OPERATOR = oneWord("And", "Or");
const SCOPE = openObject(
  {},
  {
    IsGlobalScope: aFlag,
    IsComplexScope: aFlag,
    Applicability: FRACTIONS,
    InclusionOperator: OPERATOR,
    Inclusions: listOf(RULE, 0),
    ExclusionOperator: OPERATOR,
    Exclusions: listOf(RULE),
  },
);

/**
 * ContractCommitmentApplicability: a global scope, a scope that is too complex for the schema, or inclusions with their operator. Source:
 * the schema of FOCUS 1.4, `contractcommitmentapplicabilityobject`.
 */
export const APPLICABILITY: Shape = (value) => {
  if (!isObject(value) || !SCOPE(value)) return false;
  const { IsGlobalScope: global, IsComplexScope: complex, Inclusions: inclusions } = value;
  const has = (key: string): boolean => Object.hasOwn(value, key);
  if (has("Exclusions") && !has("ExclusionOperator")) return false;
  const count = Array.isArray(inclusions) ? inclusions.length : 0;
  if (global !== true && complex !== true) return count > 0 && has("InclusionOperator");
  return global !== complex && count === 0 && !has("InclusionOperator");
};
