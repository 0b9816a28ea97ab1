/** Artifacts with the field names of Protolink's runtime page, where their content is a list of parts. */
import { type Fields, snakeFields } from './run-handler.ts';

export interface RunPart {
  readonly type: string;
  readonly content: unknown;
}

/** Converts an artifact that an action was prepared with. */
export function toArtifact({ content, ...said }: Fields): Fields & { readonly parts: readonly RunPart[] } {
  return { ...snakeFields(said), parts: toParts(content) };
}

function toParts(content: unknown): readonly RunPart[] {
  const isPart = (one: unknown) =>
    typeof one === 'object' && one !== null && 'type' in one && 'content' in one;
  if (Array.isArray(content) && content.every(isPart)) return content as RunPart[];
  return content === undefined ? [] : [{ type: 'json', content }];
}
