/**
 * Asks the person at the terminal what a thread waits for: approvals and paused work by yes or no, a question by its
 * answer.
 * - Only a yes approves. A question that the person leaves open is not decided: it stays open.
 * - An answer applies only to what was shown: if the call has changed since, the answer does not count and the new
 *   call is asked.
 */
import type { RuntimeClient } from '../../client/runtime-client.ts';
import { shorten } from '../../core/value/shown-text.ts';
import type { WaitAnswer } from '../../core/wait/answer.ts';
import type { Wait } from '../../store/wait/wait-record.ts';
import { reportFailure } from '../exit.ts';

/** Resolves to undefined if the person does not answer. */
export type AskPerson = (question: string) => Promise<string | undefined>;

const SUMMARY = 500;

/** Returns false if a wait of the thread is left open. */
export async function askWaits(client: RuntimeClient, threadId: string, ask: AskPerson): Promise<boolean> {
  for (const wait of await client.listWaits({ threadId })) {
    const answer = await askForAnswer(wait, ask);
    if (!answer) return false;
    const { id, fingerprint } = wait;
    try {
      await client.answerWait(id, answer, fingerprint === null ? {} : { fingerprint });
    } catch (error) {
      // An invalid value or a lost connection.
      reportFailure(error);
      return false;
    }
  }
  return true;
}

async function askForAnswer({ kind, name, summary }: Wait, ask: AskPerson): Promise<WaitAnswer | undefined> {
  const what = `${shorten(name, 64)}: ${shorten(summary, SUMMARY)}`;
  if (kind === 'question') {
    const value = await ask(`${what} `);
    return value === undefined ? undefined : { value };
  }
  // Other waits need more than one line of input: values that may be secret, or the outcome of a call.
  if (kind !== 'approval' && kind !== 'paused') return undefined;
  const reply = await ask(`${what} [y/N] `);
  return reply === undefined ? undefined : { approved: /^\s*y(es)?\s*$/i.test(reply) };
}
