/**
 * A slow tool with an irreversible effect. The bulletin has no idempotency keys, so this tool cannot
 * be `idempotent`, and Everthread begins each of its calls at most once: when the process is lost meanwhile, the model
 * is told that the outcome is unknown, and checks for itself (list_published).
 * It signs with a secret that it alone uses: neither the model nor anything stored ever contains it. And before it
 * begins it schedules a check (agents/effects/follow_up.ts), which runs even when this process does not live to
 * see the end of the call.
 */
import { createHmac } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { defineTool, type ThreadState } from 'everthread';
import { z } from 'zod';
import { appendEntry } from './_bulletin.ts';

const STAGE_MS = 1000;
const FOLLOW_UP_MS = 20_000;

export default defineTool({
  description:
    'Publishes a summary on the company bulletin, where everyone reads it. Takes about four seconds and cannot be undone.',
  args: z.object({
    title: z.string().min(1).max(80).describe('A few words'),
    summary: z.string().min(1).max(600).describe('At most two sentences, true without any context'),
  }),
  variables: [
    {
      name: 'BULLETIN_KEY',
      type: 'secret',
      required: false,
      description: 'Signs entries; without it they are published unsigned',
    },
  ],
  timeoutMs: 30_000,
  async execute(state, { title, summary }) {
    const key = state.idempotencyKey ?? state.threadId;
    const signature = await sign(state, `${title}\n${summary}`);
    await state.scheduleEffect('follow_up', { title, key }, FOLLOW_UP_MS);
    const stage = async (name: string) => {
      console.log(`publish_summary: ${name}`);
      await sleep(STAGE_MS, undefined, { signal: state.execution?.abortSignal });
    };
    await stage('proofreading (1 of 4)');
    await stage('typesetting (2 of 4)');
    await appendEntry({ key, title, summary, signature });
    await stage('printed, it is on the board now (3 of 4)');
    await stage('telling the piers (4 of 4)');
    return { status: 'success', result: `Published "${title}" as entry ${key}.` };
  },
});

async function sign(state: ThreadState, text: string): Promise<string | undefined> {
  const secret = await state.env('BULLETIN_KEY').catch(() => undefined);
  return secret && createHmac('sha256', secret).update(text).digest('hex').slice(0, 16);
}
