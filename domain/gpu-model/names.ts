import { fitsGlob } from "../price/glob.ts";
import { GPU_MODELS, type GpuModel, type ModelVendor } from "./models.ts";

/** What makers put before the names of their models, in the form of {@link plain}. */
const PREFIXES: Readonly<Record<ModelVendor, readonly string[]>> = {
  nvidia: ["nvidia", "tesla", "nvidiatesla"],
  amd: ["amd", "instinct", "amdinstinct"],
  intel: ["intel", "intelr"],
};
const GB_IN_MIB = 1024;

/**
 * The one name of a GPU's model, whichever name of the field it is given under: the exporter's, GFD's, a cloud's short one. Names
 * are compared without case, spaces and the maker's prefix. Of several models with one short name the memory decides. A name
 * that is of no known model has `-` between its words and is otherwise left as it is.
 */
export function canonicalModel(name: string, memoryMiB?: number): string {
  const named = modelsOf(name);
  const distance = ({ memoryGb }: GpuModel): number => Math.abs((memoryMiB ?? 0) / GB_IN_MIB - memoryGb);
  const [first] = memoryMiB === undefined ? named : named.toSorted((a, b) => distance(a) - distance(b));
  return first?.name ?? name.trim().replace(/[\s_]+/g, "-");
}

/** The memory of a GPU in MiB by its model, where it is a known one. */
export function modelMemoryMiB(name: string): number | undefined {
  const [model] = modelsOf(name);
  return model === undefined ? undefined : model.memoryGb * GB_IN_MIB;
}

/** Whose GPU a name is of; undefined where neither a known model nor a maker's prefix shows it. */
export function vendorOfModel(name: string): ModelVendor | undefined {
  const [model] = modelsOf(name);
  if (model !== undefined) return model.vendor;
  const form = plain(name);
  return (Object.keys(PREFIXES) as readonly ModelVendor[]).find((vendor) => withoutPrefix(form, vendor) !== form);
}

/** Whether a glob, or a name, means a model: by any of the model's names, without case, spaces and the maker's prefix. */
export function meansModel(pattern: string, model: string): boolean {
  const wanted = plain(pattern);
  return formsOf(model).some((form) => fitsGlob(wanted, form));
}

const BY_FORM = new Map<string, GpuModel[]>();
for (const model of GPU_MODELS) {
  for (const form of new Set(formsOfModel(model))) BY_FORM.set(form, [...(BY_FORM.get(form) ?? []), model]);
}

function modelsOf(name: string): readonly GpuModel[] {
  return BY_FORM.get(plain(name)) ?? [];
}

/** A price book asks for the same few models again and again. */
const FORMS = new Map<string, readonly string[]>();

/** All forms in which a model's names can be compared. */
function formsOf(name: string): readonly string[] {
  const known = FORMS.get(name);
  if (known !== undefined) return known;
  const model = modelsOf(name).find((each) => each.name === name);
  const forms = model === undefined ? unknownForms(name) : formsOfModel(model);
  FORMS.set(name, forms);
  return forms;
}

function formsOfModel({ vendor, name, aliases }: GpuModel): readonly string[] {
  return [name, ...aliases].flatMap((each) => {
    const form = plain(each);
    // Tesla is the name of some models alone.
    const isTesla = [form, plain(name)].some((one) => one.startsWith("tesla"));
    return prefixed(withoutPrefix(form, vendor), vendor).filter((one) => isTesla || !one.includes("tesla"));
  });
}

function unknownForms(name: string): readonly string[] {
  const form = plain(name);
  const vendor = vendorOfModel(name);
  return vendor === undefined ? [form] : prefixed(withoutPrefix(form, vendor), vendor);
}

function prefixed(base: string, vendor: ModelVendor): readonly string[] {
  return [base, ...PREFIXES[vendor].map((prefix) => prefix + base)];
}

function withoutPrefix(form: string, vendor: ModelVendor): string {
  const longest = PREFIXES[vendor].toSorted((a, b) => b.length - a.length).find((prefix) => form.startsWith(prefix));
  return longest === undefined ? form : form.slice(longest.length);
}

/** Letters and digits in lower case. The stars and question marks of a glob stay, and what stands for any character. */
function plain(name: string): string {
  return name.toLowerCase().replace(/[^a-z0-9*?~]/g, "");
}
