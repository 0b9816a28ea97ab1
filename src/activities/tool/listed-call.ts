/** May a call name what it names? Code may reach whatever the project defines; models and signals only what the active prompt lists. */
import type { PromptToolEntry } from '../../core/definition.ts';
import type { StoredToolCall } from '../../store/port/tool.ts';

/** Why not; undefined where it may. `entry` is the active prompt's for that name. */
export function refuseUnlisted(
  { name, origin }: Pick<StoredToolCall, 'name' | 'origin'>,
  entry: PromptToolEntry | undefined,
): string | undefined {
  if (origin === 'code' || entry) return undefined;
  return `Tool "${name}" is not available to this prompt.`;
}
