import type { Variable } from "./model.ts";

/** Returns a variable with the values of a label on some series. */
export function labelVariable(
  name: string,
  label: string,
  of: string,
  selector: string,
  more: { readonly isSingle?: boolean; readonly isHidden?: boolean } = {},
): Variable {
  const { isSingle = false, isHidden = false } = more;
  return { name, label, query: { source: "prometheus", selector, of }, isMulti: !isSingle, isHidden };
}
