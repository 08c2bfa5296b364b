import * as models from "@kubernetes/client-node";

interface Attribute {
  readonly name: string;
  readonly type: string;
}
interface Model {
  getAttributeTypeMap(): readonly Attribute[];
}

/**
 * The differences of an object from Kubernetes' OpenAPI model of this name (`V2HorizontalPodAutoscaler`), as its generated client has it: fields that
 * the model lacks, and values of another type, each by its path. Required fields are not checked.
 */
export function misfits(object: unknown, model: string, path = model): readonly string[] {
  if (!isRecord(object)) return [`${path} is no object`];
  const attributes = (models as unknown as Readonly<Record<string, Model | undefined>>)[model]?.getAttributeTypeMap();
  if (attributes === undefined) throw new Error(`there is no model ${model}`);
  return Object.entries(object).flatMap(([field, value]) => {
    const attribute = attributes.find(({ name }) => name === field);
    return attribute === undefined ? [`${path} has no ${field}`] : unlike(value, attribute.type, `${path}.${field}`);
  });
}

function unlike(value: unknown, type: string, path: string): readonly string[] {
  const ofArray = /^Array<(.*)>$/.exec(type)?.[1];
  if (ofArray !== undefined) {
    return Array.isArray(value)
      ? value.flatMap((each, index) => unlike(each, ofArray, `${path}[${index}]`))
      : [`${path} is no list`];
  }
  const ofMap = /^\{ \[key: string\]: (.*); \}$/.exec(type)?.[1];
  if (ofMap !== undefined) {
    return isRecord(value)
      ? Object.entries(value).flatMap(([key, each]) => unlike(each, ofMap, `${path}.${key}`))
      : [`${path} is no map`];
  }
  if (type === "IntOrString") return ["string", "number"].includes(typeof value) ? [] : [`${path} is no ${type}`];
  if (["string", "number", "boolean"].includes(type)) return typeof value === type ? [] : [`${path} is no ${type}`];
  return misfits(value, type, path);
}

function isRecord(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
