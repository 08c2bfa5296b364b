import { splitImage } from "../image.ts";
import type { PodSpecObject } from "../pod-object.ts";
import { objects, text } from "../wire.ts";

/** The most images that a fact names, and the most characters of each. */
const MOST_IMAGES = 5;
const MOST_CHARACTERS = 256;

/**
 * Returns the images of a pod that can change without a change of the pod: those without a digest whose tag is `latest` or absent. A pod
 * that starts again can get another program from them.
 */
export function unpinnedImages(spec: PodSpecObject | null | undefined): readonly string[] {
  const images = [...objects(spec?.initContainers), ...objects(spec?.containers)].flatMap(
    ({ image }) => text(image)?.slice(0, MOST_CHARACTERS) ?? [],
  );
  return [...new Set(images)].filter(isUnpinned).sort().slice(0, MOST_IMAGES);
}

function isUnpinned(image: string): boolean {
  const { tag, digest } = splitImage(image);
  return digest === "" && (tag === "" || tag === "latest");
}
