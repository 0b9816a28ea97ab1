/** Workers that serve one test file after the other: none of them finds anything of the one before. */
import { randomUUID } from 'node:crypto';
import { describe, expect, it } from '@jest/globals';
import { defineTool } from '../../src/definitions/index.ts';
import { calls, type ScriptedModel, says, scriptedModel } from '../../src/testing/index.ts';
import { type KeptWorker, keepWorker, takeWorker } from '../once/kept-workers.ts';
import { TestWorker } from '../once/test-worker.ts';
import { conversation } from '../support/conversation.ts';
import { connectPatiently } from '../support/patient-client.ts';
import { closeAfterTest, eventually, helperRegistry } from '../support/runtime.ts';
import { openTestStore } from '../support/worker-pool.ts';

const ask = defineTool({
  description: 'asks',
  asks: true,
  execute: async (state) => {
    await state.ask({ key: 'colour', question: 'Which colour?' });
    return { status: 'success', result: 'told' };
  },
});
const dutyOf = (model: ScriptedModel) => ({ registry: () => helperRegistry({ model, tools: { ask } }) });

async function startMember(model: ScriptedModel): Promise<KeptWorker> {
  const place = { store: await openTestStore(), taskQueue: `test-${randomUUID()}` };
  const terms = { configuration: {}, workflowBundle: process.env.EVERTHREAD_TEST_BUNDLE };
  const worker = await TestWorker.start(terms, place, dutyOf(model));
  closeAfterTest(() => worker.stop());
  return { key: randomUUID(), worker, unsetCommonVariables: async () => {} };
}

async function talkTo({ worker }: KeptWorker) {
  const client = await connectPatiently({ store: worker.store, taskQueue: worker.taskQueue });
  closeAfterTest(() => client.close());
  return { client, ...conversation(client) };
}

describe('a worker that is kept for the next file', () => {
  it('serves it with its own registry, and an empty store; a worker that is not to stay has ended', async () => {
    const member = await startMember(scriptedModel([calls('ask')]));
    const before = await talkTo(member);
    const { threadId } = await before.client.startThread({
      agent: 'helper',
      messages: [{ content: 'go' }],
    });
    await eventually('its question', async () => (await before.client.listWaits()).length === 1);
    await member.worker.endThreads(before.client.temporal, new Set([threadId]));
    await keepWorker(member, true);

    const taken = takeWorker(member.key);
    expect(taken).toBe(member);
    expect(takeWorker(member.key)).toBeUndefined();
    member.worker.serve(dutyOf(scriptedModel([says('of the next file')])));
    const after = await talkTo(member);
    expect(await after.client.listWaits()).toEqual([]);
    expect(await member.worker.store.threads.list()).toEqual([]);
    expect(await after.transcript(await after.start('hello'))).toEqual([
      'user: hello',
      'assistant: of the next file',
    ]);

    await keepWorker(member, false);
    expect([member.worker.over, takeWorker(member.key)]).toEqual([true, undefined]);
  });
});
