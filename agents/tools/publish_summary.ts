/**
 * A slow tool with an effect that cannot be taken back. The bulletin does not know idempotency keys, so this tool cannot
 * be `idempotent`, and Everthread begins each of its calls at most once: when the process is lost in between, the model
 * is told that the outcome is unknown, and looks for itself (list_published).
 */
import { setTimeout as sleep } from 'node:timers/promises';
import { defineTool } from 'everthread';
import { z } from 'zod';
import { appendEntry } from './_bulletin.ts';

const STAGE_MS = 1000;

export default defineTool({
  description:
    'Publishes a summary on the company bulletin, where everyone reads it. Takes about four seconds and cannot be undone.',
  args: z.object({
    title: z.string().min(1).max(80).describe('A few words'),
    summary: z.string().min(1).max(600).describe('At most two sentences, true without any context'),
  }),
  timeoutMs: 30_000,
  async execute(state, { title, summary }) {
    const key = state.idempotencyKey ?? state.threadId;
    const stage = async (name: string) => {
      console.log(`publish_summary: ${name}`);
      await sleep(STAGE_MS, undefined, { signal: state.execution?.abortSignal });
    };
    await stage('proofreading (1 of 4)');
    await stage('typesetting (2 of 4)');
    await appendEntry({ key, title, summary });
    await stage('printed, it is on the board now (3 of 4)');
    await stage('telling the piers (4 of 4)');
    return { status: 'success', result: `Published "${title}" as entry ${key}.` };
  },
});
