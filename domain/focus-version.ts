/** The versions of FOCUS in which files are written. */
export const FOCUS_VERSIONS = ["1.3", "1.4"] as const;

/** See {@link FOCUS_VERSIONS}. */
export type FocusVersion = (typeof FOCUS_VERSIONS)[number];

/** The version of FOCUS whose merged, but unreleased columns a file of services can have beside those of 1.4. */
export const FOCUS_DRAFTS = ["1.5"] as const;

/** See {@link FOCUS_DRAFTS}. */
export type FocusDraft = (typeof FOCUS_DRAFTS)[number];
