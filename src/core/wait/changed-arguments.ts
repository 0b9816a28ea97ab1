/**
 * Arguments that a person has changed as they approved a call. They take the place of the call's own, which stay in the
 * model's message.
 * - The newest change counts. Changed arguments that were refused, because the tool does not accept them, count no more:
 *   a further wait asks again, with what it showed before.
 */
import type { WaitAnswer } from './answer.ts';

export interface ChangedArguments {
  /** The wait whose answer has changed them. */
  readonly waitId: string;
  readonly by?: string;
  readonly arguments: Readonly<Record<string, unknown>>;
}

/** A wait of one call; `key` is unique in its thread. */
interface CallWait {
  readonly key: string;
  readonly wait: { readonly id: string; readonly answer: WaitAnswer | null };
}

const REFUSED = ':refused:';

/** Key of the wait that asks again, since the arguments of this answer were refused. */
export function refusedKey({ key, wait: { id } }: CallWait): string {
  return `${key.split(REFUSED)[0]}${REFUSED}${id}`;
}

/** `waits`: those of the call, oldest first. Undefined if the call has its own arguments. */
export function findChangedArguments(waits: readonly CallWait[]): ChangedArguments | undefined {
  const refused = new Set(waits.map(({ key }) => key.split(REFUSED)[1]));
  const changes = waits.flatMap(({ wait: { id, answer } }) => {
    if (refused.has(id) || !answer || !('approved' in answer) || !answer.approved || !answer.arguments)
      return [];
    return { waitId: id, arguments: answer.arguments, ...(answer.by === undefined ? {} : { by: answer.by }) };
  });
  return changes.at(-1);
}
