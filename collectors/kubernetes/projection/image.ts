/** An image's name, tag and digest; the last two are empty if the image has none. */
export interface ImageParts {
  readonly name: string;
  readonly tag: string;
  readonly digest: string;
}

/** Splits `registry:5000/path/name:tag@sha256:…` into its name, its tag and its digest. */
export function splitImage(image: string): ImageParts {
  const [named = "", digest = ""] = image.split("@");
  const colon = named.lastIndexOf(":");
  return colon > named.lastIndexOf("/")
    ? { name: named.slice(0, colon), tag: named.slice(colon + 1), digest }
    : { name: named, tag: "", digest };
}
