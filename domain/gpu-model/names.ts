import { fitsGlob, isGlob } from "../glob.ts";
import { GPU_MODELS, type GpuModel, type ModelVendor } from "./models.ts";

/** Vendor prefixes of model names, in the form of {@link plain}. */
const PREFIXES: Readonly<Record<ModelVendor, readonly string[]>> = {
  nvidia: ["nvidia", "tesla", "nvidiatesla"],
  amd: ["amd", "instinct", "amdinstinct"],
  intel: ["intel", "intelr"],
};
/** The words before the name of a model. */
const VENDOR_WORDS = new Set(["nvidia", "tesla", "amd", "instinct", "intel", "r"]);
const GB_IN_MIB = 1024;

/**
 * Returns the canonical name of a GPU model from any common name: the exporter's, GFD's, or a cloud's short one. The comparison ignores
 * case, spaces and the vendor prefix. If several models share a short name, the memory decides. An unknown name gets `-` between its words
 * and stays otherwise unchanged.
 */
export function canonicalModel(name: string, memoryMiB?: number): string {
  const named = modelsOf(name);
  const distance = ({ memoryGb }: GpuModel): number => Math.abs((memoryMiB ?? 0) / GB_IN_MIB - memoryGb);
  const [first] = memoryMiB === undefined ? named : named.toSorted((a, b) => distance(a) - distance(b));
  return (
    first?.name ??
    inBrackets(name)
      .trim()
      .replace(/[\s_]+/g, "-")
  );
}

/** Returns the memory of a known GPU model in MiB; undefined for an unknown model. */
export function modelMemoryMiB(name: string): number | undefined {
  const [model] = modelsOf(name);
  return model === undefined ? undefined : model.memoryGb * GB_IN_MIB;
}

/** Models with memory on the package. Others keep error correction in their memory: an L4 of 24 GB has 22,888 MiB for programs. */
const HBM = /(P100|V100|A100|A30$|H\d{2,3}|B\d{3}|MI\d|Max|Gaudi)/;
/** The part of a model's memory that programs have, rounded down over the genuine captures of dcgm-exporter and nvidia-smi. */
const USABLE = { hbm: 0.99, other: 0.93 };

/** Returns the memory of a known GPU model that programs can use, in MiB; undefined for an unknown model. */
export function usableMemoryMiB(name: string): number | undefined {
  const [model] = modelsOf(name);
  if (model === undefined) return undefined;
  return Math.floor(model.memoryGb * GB_IN_MIB * (HBM.test(model.name) ? USABLE.hbm : USABLE.other));
}

/** Returns the vendor of a GPU model; undefined if neither a known model nor a vendor prefix shows it. */
export function vendorOfModel(name: string): ModelVendor | undefined {
  const [model] = modelsOf(name);
  if (model !== undefined) return model.vendor;
  const form = plain(name);
  return (Object.keys(PREFIXES) as readonly ModelVendor[]).find((vendor) => withoutPrefix(form, vendor) !== form);
}

/**
 * Returns whether a glob or a name matches any name of a model, without case, spaces and the vendor prefix. A name also matches if its
 * words are words of the model's name, one after the other: `H100` is an H100 NVL, and `L4` is no L40S.
 */
export function meansModel(pattern: string, model: string): boolean {
  const wanted = plain(pattern);
  return formsOf(model).some((form) => fitsGlob(wanted, form)) || (!isGlob(pattern) && hasWords(model, pattern));
}

/** Returns the length of a model's name, without spaces and the vendor prefix. */
export function modelNameLength(name: string): number {
  return wordsOf(name).join("").length;
}

/** Returns a known model that two names match; undefined if there is none. */
export function commonModel(one: string, other: string): string | undefined {
  return GPU_MODELS.find(({ name }) => meansModel(one, name) && meansModel(other, name))?.name;
}

function hasWords(model: string, name: string): boolean {
  const [own, wanted] = [wordsOf(model), wordsOf(name)];
  const [vendor, asked] = [vendorOfModel(model), vendorOfModel(name)];
  const isOthers = vendor !== undefined && asked !== undefined && vendor !== asked;
  if (wanted.length === 0 || isOthers) return false;
  return own.some((_, first) => wanted.every((word, index) => own[first + index] === word));
}

/** Returns the words of a name in lower case, without the vendor's words before them. A `~` stands for any characters. */
function wordsOf(name: string): readonly string[] {
  const words =
    inBrackets(name)
      .toLowerCase()
      .match(/[a-z0-9~]+/g) ?? [];
  const first = words.findIndex((word) => !VENDOR_WORDS.has(word));
  return first === -1 ? [] : words.slice(first);
}

const BY_FORM = new Map<string, GpuModel[]>();
for (const model of GPU_MODELS) {
  for (const form of new Set(formsOfModel(model))) BY_FORM.set(form, [...(BY_FORM.get(form) ?? []), model]);
}

function modelsOf(name: string): readonly GpuModel[] {
  return BY_FORM.get(plain(name)) ?? [];
}

/** A cache, because a price book looks up the same few models again and again. */
const FORMS = new Map<string, readonly string[]>();

/** Returns all forms in which a model's names are compared. */
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
    // Only some models are named Tesla.
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

/**
 * Reduces a name to letters and digits in lower case. The PCI database has the name of a model in brackets, after that of its chip:
 * `GA102GL [A40]`. The `*` and `?` of a glob stay, and so does `~`, which stands for any character.
 */
function plain(name: string): string {
  return inBrackets(name)
    .toLowerCase()
    .replace(/[^a-z0-9*?~]/g, "");
}

function inBrackets(name: string): string {
  return /\[(.+)\]/.exec(name)?.[1] ?? name;
}
