/** Artifacts with the names of the page: what they show is a list of parts. */
import { type Fields, snakeFields } from './run-handler.ts';

export interface RunPart {
  readonly type: string;
  readonly content: unknown;
}

/** As an action has been prepared with it. */
export function toArtifact({ content, ...said }: Fields): Fields & { readonly parts: readonly RunPart[] } {
  return { ...snakeFields(said), parts: toParts(content) };
}

function toParts(content: unknown): readonly RunPart[] {
  const isPart = (one: unknown) =>
    typeof one === 'object' && one !== null && 'type' in one && 'content' in one;
  if (Array.isArray(content) && content.every(isPart)) return content as RunPart[];
  return content === undefined ? [] : [{ type: 'json', content }];
}
