/**
 * What a thread waits for, asked of the person at the terminal: approvals, and whether what is paused may go on, by yes or no; a question by its answer.
 * A1. Only a yes approves. A person who leaves a question open has decided nothing: it waits on.
 * A2. An answer binds what was shown: where the call has changed meanwhile, it does not count, and the new one is asked.
 */
import type { RuntimeClient } from '../../client/runtime-client.ts';
import type { WaitAnswer } from '../../core/wait/answer.ts';
import type { Wait } from '../../store/port/wait.ts';
import { reportFailure } from '../exit.ts';
import { shorten } from '../output/terminal-text.ts';

/** Undefined: the person does not answer. */
export type AskPerson = (question: string) => Promise<string | undefined>;

const SUMMARY = 500;

/** False where something that the thread waits for is left open. */
export async function askWaits(client: RuntimeClient, threadId: string, ask: AskPerson): Promise<boolean> {
  for (const wait of await client.listWaits({ threadId })) {
    const answer = await askFor(wait, ask);
    if (!answer) return false;
    const { id, fingerprint } = wait;
    try {
      await client.answerWait(id, answer, fingerprint === null ? {} : { fingerprint });
    } catch (error) {
      // A value that does not fit, a connection that is lost.
      reportFailure(error);
      return false;
    }
  }
  return true;
}

async function askFor({ kind, name, summary }: Wait, ask: AskPerson): Promise<WaitAnswer | undefined> {
  const what = `${shorten(name, 64)}: ${shorten(summary, SUMMARY)}`;
  if (kind === 'question') {
    const value = await ask(`${what} `);
    return value === undefined ? undefined : { value };
  }
  // What else is asked needs more than a line: values that may be secret, what became of a call.
  if (kind !== 'approval' && kind !== 'paused') return undefined;
  const said = await ask(`${what} [y/N] `);
  return said === undefined ? undefined : { approved: /^\s*y(es)?\s*$/i.test(said) };
}
