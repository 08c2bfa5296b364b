/** The media types of formats. */
export const MEDIA_TYPES = {
  csv: "text/csv; charset=utf-8",
  html: "text/html; charset=utf-8",
  json: "application/json",
  ndjson: "application/x-ndjson",
  parquet: "application/vnd.apache.parquet",
  pdf: "application/pdf",
} as const;
