/** Where the running turn of a request begins. */
import type { ProviderMessage } from '../core/message/provider.ts';

/**
 * Returns the place behind the user's message that begins the turn. What a user says while tools run comes after their
 * results, and belongs to the turn: providers read it together with them.
 */
export function turnStart(messages: readonly ProviderMessage[]): number {
  let start = 0;
  let before: ProviderMessage['role'] | undefined;
  for (const [at, { role }] of messages.entries()) {
    if (role !== 'user') before = role;
    else if (before !== 'tool') start = at + 1;
  }
  return start;
}
