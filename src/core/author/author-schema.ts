/** Schemas of authors: zod's, of whichever copy they have. */

/** A zod object schema from any copy of zod 4, recognised by shape alone. */
export interface AuthorSchema {
  safeParse(value: unknown): ParsedBySchema;
  /** Also supports asynchronous refinements, for which `safeParse` throws. */
  safeParseAsync(value: unknown): Promise<ParsedBySchema>;
}

export type ParsedBySchema =
  | { success: true; data: unknown }
  | { success: false; error: { issues: readonly { path: readonly PropertyKey[]; message: string }[] } };
